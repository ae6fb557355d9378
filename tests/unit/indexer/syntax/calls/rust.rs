use crate::auth::{token::Token, verify as check};
use std::fs;

pub struct Store { cache: Arc<Cache>, path: PathBuf }

pub trait Saver { fn save(&self, token: Token); }

impl Saver for Store {
    fn save(&self, token: Token) {
        let writer = Writer::open(&self.path);
        writer.put::<u8>(token.bytes());
        self.cache.clear();
        Self::log(check(token));
        fs::sync(1);
        assert_eq!(self.len(), count(3));
    }
}

impl Store {
    fn log(ok: bool) { items.map(count); }
}

fn count(n: usize) -> usize { n }
