//! The screen, once a second.

use std::error::Error;
use std::time::Duration;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::followed::Followed;
use super::overview::Overview;
use super::render::{self, Palette};
use super::screen::{self, Screen};
use crate::screen::wants_colours;
use crate::stop::Stop;

const PERIOD: Duration = Duration::from_secs(1);

/// Shows the informers until the user or a signal ends it.
pub(crate) async fn show(
    place: String,
    mut followed: Vec<Followed>,
    mut stop: Stop,
) -> Result<(), Box<dyn Error>> {
    let palette = Palette::of_terminal(wants_colours());
    let mut screen = Screen::open()?;
    let mut events = screen::events();
    let mut tick = interval(PERIOD);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sampled = Instant::now();
    let mut view = View::default();
    loop {
        tokio::select! {
            () = &mut stop => return Ok(()),
            event = events.recv() => match event.map(|event| view.handle(&event)) {
                Some(Then::Draw) => {}
                Some(Then::End) => return Ok(()),
                None => return Err("cannot read the keyboard any more".into()),
            },
            now = tick.tick() => {
                let since = now.saturating_duration_since(sampled);
                followed.iter_mut().for_each(|one| one.sample(since));
                sampled = now;
            }
        }
        let overview = Overview::of(place.clone(), &followed);
        let hidden =
            screen.draw(|buffer| render::screen(&overview, view.scrolled, &palette, buffer))?;
        view.scrolled = view.scrolled.min(hidden.unwrap_or(0));
    }
}

/// The part of the screen that the user has chosen.
#[derive(Default)]
struct View {
    /// Lines out of sight above.
    scrolled: usize,
}

/// What to do after an event.
#[derive(PartialEq, Eq, Debug)]
enum Then {
    Draw,
    End,
}

impl View {
    fn handle(&mut self, event: &Event) -> Then {
        let Event::Key(KeyEvent {
            code,
            modifiers,
            kind: KeyEventKind::Press | KeyEventKind::Repeat,
            ..
        }) = event
        else {
            return Then::Draw;
        };
        match code {
            KeyCode::Char('q') => return Then::End,
            // The terminal sends no signal while keys are read one by one.
            KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => return Then::End,
            KeyCode::Up => self.scrolled = self.scrolled.saturating_sub(1),
            KeyCode::Down => self.scrolled = self.scrolled.saturating_add(1),
            _ => {}
        }
        Then::Draw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn q_and_ctrl_c_end_it_and_nothing_else_does() {
        let mut view = View::default();
        let mut then = |code, modifiers| view.handle(&press(code, modifiers));
        assert_eq!(then(KeyCode::Char('q'), KeyModifiers::NONE), Then::End);
        assert_eq!(then(KeyCode::Char('c'), KeyModifiers::CONTROL), Then::End);
        assert_eq!(then(KeyCode::Char('c'), KeyModifiers::NONE), Then::Draw);
        assert_eq!(view.handle(&Event::Resize(40, 10)), Then::Draw);
    }

    #[test]
    fn arrows_scroll() {
        let mut view = View::default();
        let mut scroll = |code| {
            view.handle(&press(code, KeyModifiers::NONE));
            view.scrolled
        };
        let keys = [KeyCode::Up, KeyCode::Down, KeyCode::Down, KeyCode::Up];
        assert_eq!(keys.map(&mut scroll), [0, 1, 2, 1]);
    }
}
