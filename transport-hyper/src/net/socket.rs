//! A socket that can stop listening.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

/// How many bytes are asked for at once without listening: about as many as arrive. The room for them is cleared before,
/// so more would cost time for nothing. Each read may send the peer word that there is room again, so fewer would, too.
const LEAST: usize = 16 << 10;
const MOST: usize = 128 << 10;

/// A TCP connection that the runtime does not look at while it is deaf.
///
/// The system wakes a thread of the runtime whenever bytes arrive, whether anybody wants to read them or not.
/// A deaf connection is read directly. It listens again when there is nothing to read, or no room to write.
/// A caller that makes it deaf must read it again without being woken.
pub(super) struct Socket {
    state: State,
    /// How many bytes the next read without listening asks for.
    portion: usize,
    /// Why the last read ended, if it brought something before. The system says that once.
    failed: Option<io::Error>,
    runtime: Handle,
}

enum State {
    Listening(TcpStream),
    Deaf(std::net::TcpStream),
    /// It could not be registered with the runtime, which has ended.
    Lost,
}

impl Socket {
    /// Must be called within the runtime of the client.
    pub(super) fn new(stream: TcpStream) -> Self {
        Self {
            state: State::Listening(stream),
            portion: LEAST,
            failed: None,
            runtime: Handle::current(),
        }
    }

    /// The connection, listening again.
    fn listening(&mut self) -> io::Result<&mut TcpStream> {
        if let State::Deaf(_) = self.state
            && let State::Deaf(stream) = std::mem::replace(&mut self.state, State::Lost)
        {
            let _context = self.runtime.enter();
            self.state = State::Listening(TcpStream::from_std(stream)?);
        }
        match &mut self.state {
            State::Listening(stream) => Ok(stream),
            State::Deaf(_) | State::Lost => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Writes without listening, if it is deaf. `None` if it has to wait for that, or is not deaf.
    fn write_deaf(
        &self,
        write: impl FnOnce(&std::net::TcpStream) -> io::Result<usize>,
    ) -> Option<io::Result<usize>> {
        let State::Deaf(stream) = &self.state else {
            return None;
        };
        let written = write(stream);
        let must_wait = matches!(&written, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        (!must_wait).then_some(written)
    }
}

/// A stream that need not tell when bytes arrive.
pub(super) trait Deafen {
    /// Stops listening until a read finds nothing.
    fn deafen(&mut self);

    /// Reads what is there without listening, if it is deaf. `None` if nothing is there, or it is not deaf.
    fn read_deaf(&mut self, buf: &mut ReadBuf<'_>) -> Option<io::Result<()>>;
}

impl Deafen for Socket {
    fn deafen(&mut self) {
        if let State::Listening(_) = self.state
            && let State::Listening(stream) = std::mem::replace(&mut self.state, State::Lost)
            && let Ok(stream) = stream.into_std()
        {
            self.state = State::Deaf(stream);
        }
    }

    fn read_deaf(&mut self, buf: &mut ReadBuf<'_>) -> Option<io::Result<()>> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let State::Deaf(stream) = &mut self.state else {
            return None;
        };
        let before = buf.filled().len();
        while buf.remaining() > 0 {
            let room = buf.initialize_unfilled_to(buf.remaining().min(self.portion));
            let asked = room.len();
            match stream.read(room) {
                Ok(length) => {
                    buf.advance(length);
                    if length < asked {
                        if length < self.portion / 4 {
                            self.portion = (self.portion / 2).max(LEAST);
                        }
                        return Some(Ok(()));
                    }
                    if length == self.portion {
                        self.portion = (2 * length).min(MOST);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return (buf.filled().len() > before).then_some(Ok(()));
                }
                Err(error) if buf.filled().len() > before => {
                    self.failed = Some(error);
                    return Some(Ok(()));
                }
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(()))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.read_deaf(buf) {
            Some(read) => Poll::Ready(read),
            None => Pin::new(self.listening()?).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.write_deaf(|mut stream| stream.write(buf)) {
            Some(written) => Poll::Ready(written),
            None => Pin::new(self.listening()?).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.write_deaf(|mut stream| stream.write_vectored(bufs)) {
            Some(written) => Poll::Ready(written),
            None => Pin::new(self.listening()?).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A socket has no buffer of its own.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let State::Deaf(stream) = &self.state {
            return Poll::Ready(stream.shutdown(Shutdown::Write));
        }
        Pin::new(self.listening()?).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    async fn pair() -> (TcpStream, Socket) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, connected) = tokio::join!(listener.accept(), TcpStream::connect(address));
        (accepted.unwrap().0, Socket::new(connected.unwrap()))
    }

    #[tokio::test]
    async fn what_arrives_while_it_is_deaf_is_read_later() {
        let (mut server, mut socket) = pair().await;
        for _ in 0..3 {
            socket.deafen();
            server.write_all(b"hello").await.unwrap();
            let mut bytes = [0; 5];
            socket.read_exact(&mut bytes).await.unwrap();
            assert_eq!(&bytes, b"hello");
        }
        socket.deafen();
        drop(server);
        assert_eq!(socket.read(&mut [0; 5]).await.unwrap(), 0, "the end");
    }

    #[tokio::test]
    async fn it_stays_deaf_while_there_is_something_to_read() {
        let (mut server, mut socket) = pair().await;
        server.write_all(b"one, two").await.unwrap();
        let mut bytes = [0; 4];
        socket.read_exact(&mut bytes).await.unwrap();
        socket.deafen();
        socket.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b" two");
        assert!(matches!(socket.state, State::Deaf(_)));
        let read = async {
            let read = socket.read(&mut bytes).await;
            (read.unwrap(), bytes)
        };
        let (read, written) = tokio::join!(read, server.write_all(b"end"));
        written.unwrap();
        assert_eq!(read, (3, *b"endo"));
        assert!(matches!(socket.state, State::Listening(_)));
    }

    #[tokio::test]
    async fn what_arrived_before_a_connection_was_reset_is_read_first() {
        let (mut server, mut socket) = pair().await;
        server.write_all(&[7; LEAST]).await.unwrap();
        socket2::SockRef::from(&server)
            .set_linger(Some(std::time::Duration::ZERO))
            .unwrap();
        drop(server);
        socket.deafen();
        let mut bytes = vec![0; 2 * LEAST];
        assert_eq!(socket.read(&mut bytes).await.unwrap(), LEAST);
        let error = socket.read(&mut bytes).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[tokio::test]
    async fn a_deaf_socket_reads_all_in_order() {
        let (mut server, mut socket) = pair().await;
        let sent: Vec<u8> = (0..8 << 20_u32).map(|at| (at >> 10) as u8).collect();
        let writing = async {
            server.write_all(&sent).await.unwrap();
            server.shutdown().await.unwrap();
        };
        let reading = async {
            let mut received = Vec::with_capacity(sent.len() + 1);
            loop {
                socket.deafen();
                if socket.read_buf(&mut received).await.unwrap() == 0 {
                    break received;
                }
            }
        };
        let ((), received) = tokio::join!(writing, reading);
        assert!(received == sent);
    }

    #[tokio::test]
    async fn it_asks_for_as_many_bytes_as_arrive() {
        let (mut server, mut socket) = pair().await;
        let own = socket2::SockRef::from(&*socket.listening().unwrap());
        own.set_recv_buffer_size(4 * MOST).unwrap();
        let room = own.recv_buffer_size().unwrap();
        assert!(
            room > 2 * MOST,
            "the system allows {room} bytes, too few to wait for"
        );
        let mut bytes = vec![0; 2 * MOST];
        for (sent, room, portion) in [
            (LEAST - 1, MOST, LEAST),
            (LEAST, MOST, 2 * LEAST),
            (LEAST / 2, MOST, 2 * LEAST),
            (3 * LEAST, MOST, 4 * LEAST),
            (LEAST - 1, MOST, 2 * LEAST),
            (1, MOST, LEAST),
            (1, MOST, LEAST),
            // There may be more than there is room for.
            (LEAST / 8, LEAST / 8, LEAST),
            (7 * LEAST, MOST, MOST),
            (MOST, 2 * MOST, MOST),
            (LEAST, LEAST, MOST),
            (2 * LEAST, 3 * LEAST, MOST),
            (LEAST, 3 * LEAST, MOST / 2),
        ] {
            server.write_all(&bytes[..sent]).await.unwrap();
            // All of it is there before the socket is read without listening.
            while socket.listening().unwrap().peek(&mut bytes).await.unwrap() < sent {}
            socket.deafen();
            assert_eq!(socket.read(&mut bytes[..room]).await.unwrap(), sent);
            assert_eq!(socket.portion, portion, "after {sent} bytes in {room}");
        }
    }

    #[tokio::test]
    async fn a_deaf_socket_writes_and_waits_when_the_peer_does_not_read() {
        let (mut server, mut socket) = pair().await;
        let sent = vec![7; 8 << 20];
        let writing = async {
            for part in sent.chunks(1 << 20) {
                socket.deafen();
                socket.write_all(part).await.unwrap();
            }
            socket.deafen();
            socket.shutdown().await.unwrap();
        };
        let reading = async {
            let mut received = Vec::new();
            server.read_to_end(&mut received).await.unwrap();
            received
        };
        let ((), received) = tokio::join!(writing, reading);
        assert!(received == sent);
    }

    #[test]
    fn it_can_be_polled_outside_of_its_runtime() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (mut server, mut socket) = runtime.block_on(pair());
        socket.deafen();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut bytes = [0; 8];
        let mut read = ReadBuf::new(&mut bytes);
        let polled = Pin::new(&mut socket).poll_read(&mut cx, &mut read);
        assert!(polled.is_pending());
        runtime.block_on(server.write_all(b"late")).unwrap();
        assert_eq!(runtime.block_on(socket.read(&mut bytes)).unwrap(), 4);
    }
}
