//! The operations port, over real sockets.
