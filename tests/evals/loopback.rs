//! An HTTP server on loopback that does as it is told, right or wrong, and remembers what it was asked.
//!
//! Written out by hand, because a library's server would not misbehave. It reads one request per connection and ends the connection
//! after its answer.

use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// So that a mistake in a test ends the test.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a connection gets.
#[derive(Clone)]
pub enum Answer {
    /// These bytes, whatever they are, once the request is read.
    Bytes(Vec<u8>),
    /// Nothing, until the client leaves.
    Silence,
    /// These bytes, then a blank every millisecond until the client leaves.
    Trickle(Vec<u8>),
    /// These bytes, then that many zeros as far as the client takes them.
    Flood(Vec<u8>, usize),
    /// An end before anything is read.
    Close,
}

impl Answer {
    /// A whole answer of a status with headers (each with its line end) and a body.
    pub fn with(status: u16, headers: &str, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let head =
            format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
        Self::Bytes([head.as_bytes(), body].concat())
    }

    /// A whole answer of JSON.
    pub fn json(status: u16, body: &Value) -> Self {
        Self::with(status, "content-type: application/json\r\n", body.to_string())
    }
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// `POST /path HTTP/1.1`.
    pub line: String,
    /// Names in lower case, sorted.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn names(&self) -> Vec<&str> {
        self.headers.iter().map(|(name, _)| name.as_str()).collect()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the request is JSON")
    }
}

#[derive(Default)]
struct State {
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    /// Zeros that floods wrote.
    flooded: AtomicUsize,
    stopped: AtomicBool,
}

/// The server. It ends when it is dropped.
pub struct Loopback {
    address: SocketAddr,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

impl Loopback {
    /// The first connection gets the first answer, and so on; the last answer is for all that follow.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers: Vec<_> = answers.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(State::default());
        let thread = {
            let state = state.clone();
            std::thread::spawn(move || accept(&listener, &answers, &state))
        };
        Self { address, state, thread: Some(thread) }
    }

    /// An address on it, of `http`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Connections that were opened.
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Requests that came in whole, in order.
    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().expect("no panic").clone()
    }

    /// Ends it and waits for its connections. How many zeros its floods wrote.
    pub fn flooded(mut self) -> usize {
        self.stop();
        self.state.flooded.load(Ordering::SeqCst)
    }

    fn stop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.state.stopped.store(true, Ordering::SeqCst);
        // Wakes the one that accepts.
        let _ = TcpStream::connect(self.address);
        thread.join().expect("the server does not panic");
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.stop();
    }
}

/// An address where nobody listens.
pub fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    format!("http://{}/", listener.local_addr().expect("it is bound"))
}

fn accept(listener: &TcpListener, answers: &[Answer], state: &Arc<State>) {
    let mut serving = Vec::new();
    for stream in listener.incoming() {
        if state.stopped.load(Ordering::SeqCst) {
            break;
        }
        let Ok(stream) = stream else { continue };
        let number = state.connections.fetch_add(1, Ordering::SeqCst);
        let Some(answer) = answers.get(number).or(answers.last()).cloned() else { continue };
        let state = state.clone();
        // Clients that leave early are part of the tests.
        serving.push(std::thread::spawn(move || drop(serve(stream, &answer, &state))));
    }
    for thread in serving {
        thread.join().expect("no connection panics");
    }
}

fn serve(mut stream: TcpStream, answer: &Answer, state: &State) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    if matches!(answer, Answer::Close) {
        return stream.shutdown(Shutdown::Both);
    }
    let seen = request(&mut stream)?;
    state.seen.lock().expect("no panic").push(seen);
    match answer {
        Answer::Bytes(bytes) => stream.write_all(bytes)?,
        Answer::Silence => {}
        Answer::Trickle(bytes) => {
            stream.write_all(bytes)?;
            while !state.stopped.load(Ordering::SeqCst) {
                stream.write_all(b" ")?;
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Answer::Flood(bytes, zeros) => {
            stream.write_all(bytes)?;
            let block = [b'0'; 64 * 1024];
            let mut left = *zeros;
            while left > 0 {
                let written = stream.write(&block[..left.min(block.len())])?;
                state.flooded.fetch_add(written, Ordering::SeqCst);
                left -= written;
            }
        }
        Answer::Close => {}
    }
    if !matches!(answer, Answer::Silence) {
        stream.shutdown(Shutdown::Write)?;
    }
    // Until the client ends it too: an end from here with something unread would take the answer back.
    io::copy(&mut stream, &mut io::sink()).map(drop)
}

/// Reads a request whose body has a length.
fn request(stream: &mut TcpStream) -> io::Result<Seen> {
    let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let mut bytes = Vec::new();
    let mut block = [0; 16 * 1024];
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        match stream.read(&mut block)? {
            0 => return Err(cut()),
            read => bytes.extend_from_slice(&block[..read]),
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut body = bytes.split_off(head + 4);
    let mut lines = text.split("\r\n");
    let line = lines.next().unwrap_or_default().to_owned();
    let mut headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    headers.sort();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    while body.len() < length {
        match stream.read(&mut block)? {
            0 => return Err(cut()),
            read => body.extend_from_slice(&block[..read]),
        }
    }
    Ok(Seen { line, headers, body })
}
