//! A sender never chooses how its request is checked (Threat 11), and a verdict says what the signature doesn't cover.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

mod named;
mod uncovered;

use std::sync::LazyLock;

use hookmitt_event::{HeaderLines, Request, Timestamp, Verdict};
use hookmitt_verify::{
    Context, Inquiry, Judgement, PairKind, Provider, Secret, SignBy, TestKeyPair, explain, judge, provider,
    sample, sign,
};

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);
const URL: &str = "https://hooks.example.com/in";

static RSA: LazyLock<TestKeyPair> = LazyLock::new(|| TestKeyPair::generate(PairKind::Rsa).unwrap());

type Pairs = Vec<(String, String)>;

/// A provider's request, with everything that judging it needs.
struct Case {
    provider: &'static Provider,
    request: Request,
    secrets: Vec<Secret>,
    params: Pairs,
    url: String,
}

impl Case {
    fn new(id: &str, made: Request, secret: &str, params: Pairs) -> Self {
        let provider = provider(id).unwrap();
        let url = made.query.as_ref().map_or_else(|| URL.to_owned(), |query| format!("{URL}?{query}"));
        let by = SignBy { url: Some(&url), params: &params, ..SignBy::new(provider, secret.as_bytes(), AT) };
        let request = sign(&by, &made).unwrap();
        // The query may contain a hash that is known only after signing.
        let url = request.query.as_ref().map_or_else(|| URL.to_owned(), |query| format!("{URL}?{query}"));
        Self { provider, request, secrets: vec![Secret::new("main", secret)], params, url }
    }

    fn of_sample(id: &str, secret: &str) -> Self {
        Self::new(id, sample(provider(id).unwrap(), None, "0197-a", AT).unwrap(), secret, Vec::new())
    }

    fn inquiry(&self) -> Inquiry<'_> {
        Inquiry {
            request: &self.request,
            url: Some(&self.url),
            provider: Some(self.provider),
            generic: None,
            scheme: None,
            secrets: &self.secrets,
            tolerance: None,
            at: AT,
            params: &self.params,
            published: None,
        }
    }

    fn judged(&self) -> Judgement {
        judge(&self.inquiry())
    }

    /// Returns the verdict and the code of its first cause.
    fn found(&self) -> (Verdict, String) {
        let judgement = self.judged();
        (judgement.verdict, judgement.causes.first().map(|cause| cause.code.clone()).unwrap_or_default())
    }

    /// Replaces the header lines of these names. `None` removes a line.
    fn with(&self, lines: &[(&str, Option<&str>)]) -> Self {
        let named = |name: &str| lines.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let kept = self.request.headers.iter().filter(|line| !named(line.name));
        let kept = kept.map(|line| (line.name.to_owned(), line.value.to_vec()));
        let own = lines
            .iter()
            .filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?.as_bytes().to_vec())));
        let headers = HeaderLines::from_pairs(kept.chain(own)).unwrap();
        let request = Request { headers, ..self.request.clone() };
        Self {
            request,
            secrets: self.secrets.clone(),
            params: self.params.clone(),
            url: self.url.clone(),
            ..*self
        }
    }

    fn with_body(&self, body: &[u8]) -> Self {
        let mut other = self.with(&[]);
        other.request.body = body.to_vec().into();
        other
    }

    fn sentence(&self) -> String {
        explain(&self.inquiry(), &Context::default()).sentence
    }
}

fn refused(code: &str) -> (Verdict, String) {
    (Verdict::Invalid, code.to_owned())
}

fn is_valid(case: &Case) -> bool {
    case.judged().verdict == Verdict::Valid
}

fn paypal() -> Case {
    let made = sample(provider("paypal").unwrap(), None, "0197-a", AT).unwrap();
    let params = vec![("webhook_id".to_owned(), "1JE4291016473214C".to_owned())];
    Case::new("paypal", made, &RSA.private_pem(), params)
}
