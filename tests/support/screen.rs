//! What a display shows, and what a person does there without the help of a window manager.

use x11rb::{
    connection::Connection as _,
    protocol::xproto::{
        AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, EventMask,
        InputFocus, MapState, Window, WindowClass,
    },
    rust_connection::RustConnection,
    wrapper::ConnectionExt as _,
};

/// A connection to an X display.
pub struct Screen {
    display: RustConnection,
    root: Window,
}

impl Screen {
    /// Connects to the display with this name.
    pub fn of(name: &str) -> Self {
        let (display, screen) = x11rb::connect(Some(name)).expect("the display is there");
        let root = display.setup().roots[screen].root;
        Self { display, root }
    }

    /// Returns the window with this title, if it is visible.
    pub fn window(&self, title: &str) -> Option<Window> {
        let children = self.display.query_tree(self.root).ok()?.reply().ok()?.children;
        children
            .into_iter()
            .find(|&window| self.is_seen(window) && self.title(window).as_deref() == Some(title))
    }

    fn is_seen(&self, window: Window) -> bool {
        let attributes = self.display.get_window_attributes(window).ok().and_then(|asked| asked.reply().ok());
        attributes.is_some_and(|attributes| attributes.map_state == MapState::VIEWABLE)
    }

    fn title(&self, window: Window) -> Option<String> {
        let (name, kind) = (AtomEnum::WM_NAME, AtomEnum::ANY);
        let property = self.display.get_property(false, window, name, kind, 0, 64).ok()?.reply().ok()?;
        String::from_utf8(property.value).ok()
    }

    /// Asks a window to close, as the button in its frame does.
    pub fn close(&self, window: Window) {
        let atom = |name: &[u8]| {
            self.display.intern_atom(false, name).expect("sent").reply().expect("an answer").atom
        };
        let data = [atom(b"WM_DELETE_WINDOW"), x11rb::CURRENT_TIME, 0, 0, 0];
        let message = ClientMessageEvent::new(32, window, atom(b"WM_PROTOCOLS"), data);
        self.display.send_event(false, window, EventMask::NO_EVENT, message).expect("sent");
        self.display.sync().expect("an answer");
    }

    /// Changes a window's size.
    pub fn resize(&self, window: Window, width: u32, height: u32) {
        let size = ConfigureWindowAux::new().width(width).height(height);
        self.display.configure_window(window, &size).expect("sent");
        self.display.sync().expect("an answer");
    }

    /// Returns a window's width and height.
    pub fn size(&self, window: Window) -> (u16, u16) {
        let shape = self.display.get_geometry(window).expect("sent").reply().expect("an answer");
        (shape.width, shape.height)
    }

    /// Opens a window of our own and gives it the keyboard focus.
    pub fn look_elsewhere(&self) -> Window {
        let window = self.display.generate_id().expect("an id");
        let none = CreateWindowAux::new();
        let kind = WindowClass::INPUT_OUTPUT;
        self.display.create_window(0, window, self.root, 0, 0, 50, 50, 0, kind, 0, &none).expect("sent");
        self.display.map_window(window).expect("sent");
        self.display.sync().expect("an answer");
        self.display.set_input_focus(InputFocus::NONE, window, x11rb::CURRENT_TIME).expect("sent");
        self.display.sync().expect("an answer");
        window
    }

    /// Returns whether the keyboard focus is in this window or in one of its descendants.
    pub fn has_focus(&self, window: Window) -> bool {
        let focus = self.display.get_input_focus().expect("sent").reply().expect("an answer").focus;
        let mut at = focus;
        while at > 1 && at != self.root {
            if at == window {
                return true;
            }
            let Some(tree) = self.display.query_tree(at).ok().and_then(|asked| asked.reply().ok()) else {
                return false;
            };
            at = tree.parent;
        }
        false
    }
}
