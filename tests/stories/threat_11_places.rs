//! Threat 11: every place that computes with a secret, what it computes, and for whom.
//!
//! If you add a place, the test below fails until it is listed here. Say who chooses what is signed or hashed, and who
//! gets to see the result. If a stranger does both, DESIGN's Threat 11 says what must hold.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// A file that computes with secrets or passes them on, and why nobody gets a text of his choice signed there.
type Place = (&'static str, &'static str);

/// Places whose results strangers receive.
const FOR_SENDERS: &[Place] = &[
    (
        "crates/engine/src/judging/answered.rs",
        "chooses the secret that a challenge is signed with: the provider is set, the request is valid where the \
         provider signs it, and no web page sent it; at the capture port, in tunnels and at doors alike",
    ),
    (
        "crates/verify/src/answer_text.rs",
        "makes the only signatures that a sender ever gets; signs what `challenge.rs` lets through and nothing else",
    ),
    (
        "crates/verify/src/check.rs",
        "computes what a signature has to be and compares it in constant time; senders hear of the verdict alone",
    ),
    ("crates/verify/src/jwt_scheme.rs", "the same for schemes that sign with a JSON Web Token"),
    (
        "crates/verify/src/downgrade.rs",
        "looks at how a secret is written, to tell which schemes it is for; computes nothing",
    ),
    ("crates/verify/src/jwt/token.rs", "the same for JSON Web Tokens"),
];

/// Places that serve the owner of the inbox, through the window, the API with its token, or the command line.
const FOR_THE_OWNER: &[Place] = &[
    (
        "crates/engine/src/replay/resign.rs",
        "re-signs an event (`replay --resign`) and signs samples (`send`) for the target that the owner names; what a \
         secret of his has signed is marked, and is in no export",
    ),
    ("crates/engine/src/replay/replays.rs", "stores what was re-signed, with the mark"),
    (
        "crates/engine/src/replay/sample.rs",
        "stores samples, with the mark; `send --secret-env` brings a secret of its own",
    ),
    (
        "crates/engine/src/fixtures/exported.rs",
        "signs what a secret of the owner's has signed anew, with the public test secret, before it goes into a file",
    ),
    (
        "crates/engine/src/manage/delivered.rs",
        "keeps a secret that a request brings, when the owner says so, and computes nothing with it",
    ),
    (
        "crates/engine/src/judging/set_up.rs",
        "says what a set-up request lacks; looks whether there is a secret, and computes nothing with one",
    ),
    ("crates/engine/src/manage/test_key.rs", "makes test key pairs, and shows the public half"),
    (
        "crates/engine/src/judging/signing.rs",
        "signs what the owner has re-signed or sent, and copies from backup sync on their way to the owner's own targets: \
         what they say is chosen by the provider's API, over TLS, and the targets alone see the signature",
    ),
    (
        "crates/verify/src/explain/shown.rs",
        "the signature that would be right, shown to the owner alone; causes that are stored don't hold it",
    ),
    (
        "crates/verify/src/explain/elsewhere.rs",
        "tries the public test secret, which everybody knows, and other sources' secrets; says which fits",
    ),
    (
        "crates/verify/src/evidence.rs",
        "compares the secret that fits with the public test secret, to say so; computes nothing",
    ),
    (
        "crates/verify/src/spoilt.rs",
        "signs an event and its edit alike, to say whether the edit spoils the signature; says that and nothing else",
    ),
    ("crates/verify/src/explain/trial.rs", "tries secrets and changed requests, and says which fits"),
    ("crates/verify/src/explain/shape.rs", "tries other encodings and algorithms, and says which fits"),
    ("crates/verify/src/explain/keys.rs", "tries other ways to read a secret, and says which fits"),
    ("crates/cli/src/local_verdict.rs", "`verify --request`, with a secret of the command's own environment"),
];

/// Helpers of the places above that serve nobody by themselves, and code unrelated to the secrets of sources.
const MEANS: &[Place] = &[
    ("crates/verify/src/lib.rs", "names"),
    ("crates/verify/src/mac.rs", "keyed hashes, and comparing in constant time"),
    ("crates/verify/src/secret.rs", "secrets as keys"),
    ("crates/verify/src/key_bytes.rs", "secrets as the bytes of keys"),
    ("crates/verify/src/sign.rs", "signs a request; asked by `signing.rs` and `exported.rs` alone"),
    ("crates/verify/src/sign_jwt.rs", "the same for JSON Web Tokens"),
    ("crates/verify/src/special/adyen.rs", "puts signatures into a body for `sign.rs`"),
    ("crates/verify/src/test_pair.rs", "key pairs of the owner's own making"),
    (
        "crates/verify/src/handshake.rs",
        "reads set-up requests; hands a secret on that `engine/judging/answered.rs` chose",
    ),
    (
        "crates/engine/src/settings/secret_store.rs",
        "reads the vault into memory; lends the secret of a running `listen` command to its source",
    ),
    ("crates/engine/src/manage/listening.rs", "lends the secret of a running `listen` command to its source"),
    (
        "crates/api/src/session.rs",
        "the page's session tokens, over texts of our own, with a key of their own",
    ),
    ("crates/api/src/handshakes.rs", "the route of `delivered.rs`"),
    ("crates/api/src/events.rs", "asks `delivered.rs` what a person can do about a set-up request"),
    ("crates/engine/src/engine.rs", "joins the parts; computes nothing"),
    (
        "crates/tunnel/src/credentials.rs",
        "signs a relay's nonce with the device's key, behind a text of our own and the tunnel's name",
    ),
    ("crates/engine/src/tunnels/keys.rs", "reads the tunnels' own vault"),
    (
        "crates/tunnel/src/turn.rs",
        "signs a new sealing key of the owner's own making with his device's key, behind a text of our own",
    ),
    (
        "crates/engine/src/tunnels/order.rs",
        "shows a relay the token that opens a tunnel there, and no source's secret",
    ),
    ("crates/vault/src/vault.rs", "where secrets are kept"),
];

/// Texts that show that a file computes with secrets, makes signatures, or passes secrets on.
const MARKS: &[&str] = &[
    ".expose()",
    "key_bytes(",
    "Mac::new(",
    "trial::mac(",
    "Hmac<",
    "Hmac::",
    ".finish(Encoding",
    ".finish(encoding",
    ".finish(scheme",
    "SignBy",
    "SigningKey",
    "TestKeyPair::from_",
    "private_pem(",
    "signing_secret(",
    "delivered_secret",
    "needs_secret",
    "resign::",
    "vault.read_all(",
    "fn read_all(",
    ".sign(",
    " sign(",
    "(sign(",
    "Secret::new(",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Returns which [`MARKS`] a file has, outside of lines that are comments and of its own tests.
fn marks(text: &str) -> Vec<&'static str> {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = lines.join("\n");
    MARKS.iter().filter(|mark| code.contains(*mark)).copied().collect()
}

/// Returns every file of the product that has a mark, by its path in the repository.
fn marked() -> BTreeMap<String, Vec<&'static str>> {
    let root = root();
    let mut folders: Vec<_> =
        fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    folders.push(root.join("src-tauri/src"));
    let mut files = Vec::new();
    folders.iter().filter(|folder| folder.is_dir()).for_each(|folder| rust_files(folder, &mut files));
    assert!(files.len() > 300, "{} files", files.len());
    let own_tests = |path: &PathBuf| path.file_name().is_some_and(|name| name == "tests.rs");
    files.retain(|path| !own_tests(path));
    let named = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
    let all = files.iter().map(|path| (named(path), marks(&fs::read_to_string(path).unwrap())));
    all.filter(|(_, marks)| !marks.is_empty()).collect()
}

#[test]
fn threat_11_every_place_that_computes_with_a_secret_is_in_the_list() {
    let listed: BTreeSet<_> =
        [FOR_SENDERS, FOR_THE_OWNER, MEANS].concat().into_iter().map(|(file, _)| file.to_owned()).collect();
    let found = marked();
    let new: Vec<_> = found.iter().filter(|(file, _)| !listed.contains(*file)).collect();
    assert!(
        new.is_empty(),
        "say in tests/stories/threat_11_places.rs who chooses what is signed there, and who gets to see it: {new:#?}"
    );
    let gone: Vec<_> = listed.iter().filter(|file| !found.contains_key(*file)).collect();
    assert!(gone.is_empty(), "these no longer compute with secrets: {gone:?}");
}

#[test]
fn threat_11_a_new_place_is_noticed() {
    assert_eq!(marks("fn f(secret: &Secret) -> Tag { tag(secret.value().expose()) }"), [".expose()"]);
    assert_eq!(marks("let by = SignBy::new(provider, secret, at);\nlet made = sign(&by, &asked)?;").len(), 2);
    assert!(marks("// secret.expose()\n#[cfg(test)]\nmod tests { let by = SignBy::new(); }").is_empty());
}
