//! Reads an event stream as our own router writes it: `event:` and `data:` lines, a blank one between messages.

/// The longest message; no event is shown with more.
const LONGEST: usize = 16 * 1024 * 1024;

/// One message of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    name: String,
    data: String,
}

impl Message {
    /// `{ "name": …, "data": … }`: the data is JSON already and stays as it is.
    pub(crate) fn into_json(self) -> String {
        let name = serde_json::Value::from(self.name);
        format!(r#"{{"name":{name},"data":{}}}"#, self.data)
    }
}

/// The stream is none of ours.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Foreign;

/// What has come of a stream.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    rest: Vec<u8>,
    next: Message,
}

impl Messages {
    /// Takes in some bytes; gives the messages that are whole with them.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Message>, Foreign> {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|&byte| byte == b'\n') else {
            return if self.rest.len() > LONGEST { Err(Foreign) } else { Ok(Vec::new()) };
        };
        let rest = self.rest.split_off(end + 1);
        let lines = std::mem::replace(&mut self.rest, rest);
        let lines = std::str::from_utf8(&lines).map_err(|_| Foreign)?;
        let ready = lines.lines().filter_map(|line| self.line(line)).collect();
        if self.next.data.len() > LONGEST { Err(Foreign) } else { Ok(ready) }
    }

    fn line(&mut self, line: &str) -> Option<Message> {
        if line.is_empty() {
            let message = std::mem::take(&mut self.next);
            return (!message.data.is_empty()).then_some(message);
        }
        let (field, value) = line.split_once(':')?;
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.next.name),
            "data" => self.next.data.push_str(value),
            _ => {} // a comment that keeps the connection alive
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_whole_wherever_the_stream_is_cut() {
        let stream =
            b"event: event\ndata: {\"seq\":1,\"title\":\"a: \xc3\xa4\"}\n\n:\n\nevent: config\ndata: {}\n\n";
        for cut in 0..stream.len() {
            let mut messages = Messages::default();
            let mut ready = messages.take(&stream[..cut]).unwrap();
            ready.extend(messages.take(&stream[cut..]).unwrap());
            let json: Vec<_> = ready.into_iter().map(Message::into_json).collect();
            let expected =
                [r#"{"name":"event","data":{"seq":1,"title":"a: ä"}}"#, r#"{"name":"config","data":{}}"#];
            assert_eq!(json, expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_message_without_an_end_is_not_kept_for_ever() {
        let mut messages = Messages::default();
        let piece = vec![b'a'; LONGEST / 2 + 1];
        assert_eq!(messages.take(&piece), Ok(Vec::new()));
        assert_eq!(messages.take(&piece), Err(Foreign));
    }
}
