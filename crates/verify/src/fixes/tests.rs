use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::*;
use crate::catalogue::provider;

/// Returns the snippet's unchanged lines and those of the given kind.
fn code(snippet: &str, with: FixKind) -> String {
    let kept = lines(&filled(snippet, provider("clerk")));
    let kept = kept.into_iter().filter(|line| line.kind == FixKind::Same || line.kind == with);
    kept.map(|line| line.text + "\n").collect()
}

/// Returns every snippet of a framework, before and after the change.
fn versions(framework: &Framework) -> Vec<String> {
    let both = |snippet: &String| [code(snippet, FixKind::Del), code(snippet, FixKind::Add)];
    [&framework.raw_body, &framework.public_url].into_iter().flat_map(both).collect()
}

fn framework(id: &str) -> &'static Framework {
    FRAMEWORKS.iter().find(|framework| framework.id == id).unwrap()
}

#[test]
fn every_framework_has_a_short_change_for_both_slips() {
    let names: Vec<_> = FRAMEWORKS.iter().map(|framework| framework.name.as_str()).collect();
    let wanted = [
        "Express",
        "Next.js",
        "NestJS",
        "Fastify",
        "FastAPI",
        "Django",
        "Rails",
        "Laravel",
        "Spring",
        "axum",
        "Flask",
        "ASP.NET",
        "actix",
        "Go net/http",
    ];
    assert_eq!(names, wanted);
    for framework in FRAMEWORKS.iter() {
        for snippet in [&framework.raw_body, &framework.public_url] {
            let (id, changed) = (&framework.id, lines(snippet));
            assert!((6..=20).contains(&changed.len()), "{id}: {} lines", changed.len());
            assert!(changed.iter().any(|line| line.kind == FixKind::Add), "{id} adds nothing");
            assert!(changed.iter().any(|line| line.kind == FixKind::Del), "{id} takes nothing away");
            assert!(changed.iter().all(|line| line.text.len() <= 120), "{id} is too wide");
            let signs = snippet.lines().all(|line| line.is_empty() || "+- ".contains(&line[..1]));
            assert!(signs && !filled(snippet, None).contains("{Provider}"), "{id}");
        }
    }
}

#[test]
fn a_cause_leads_to_the_change_that_mends_it() {
    let fix = |cause| code_fix(cause, provider("clerk"), &[]);
    let raw = fix("body_reserialized").unwrap();
    assert_eq!(raw.title, "Pass the raw body on");
    assert!(raw.frameworks.iter().all(|framework| !framework.guessed && framework.why.is_none()));
    let express: Vec<_> = raw.frameworks[0].lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(express[1], "app.use('/webhooks/clerk', express.raw({ type: '*/*', limit: '5mb' }));");
    assert_eq!(fix("url_mismatch").unwrap().title, "Verify the public URL");
    assert_eq!(fix("other_secret"), None);
}

#[test]
fn the_framework_is_guessed_from_what_its_servers_and_clients_say() {
    let guessed = |provider: &str, clues: &[(&str, &str)]| {
        let fix = code_fix("newline_changed", crate::provider(provider), clues).unwrap();
        let first = fix.frameworks[0].clone();
        first.why.map(|why| (first.name, why))
    };
    let is = |name: &str, why: &str| Some((name.to_owned(), why.to_owned()));
    assert_eq!(guessed("clerk", &[("user-agent", "node")]), is("Express", "user-agent: node"));
    assert_eq!(guessed("clerk", &[("Server", "gunicorn/21.2.0")]), is("Django", "server: gunicorn/21.2.0"));
    assert_eq!(guessed("clerk", &[("x-runtime", "0.013")]), is("Rails", "x-runtime: 0.013"));
    let cookie = ("Set-Cookie", "laravel_session=eyJpdiI6; path=/");
    assert_eq!(guessed("clerk", &[cookie]), is("Laravel", "set-cookie: laravel_session"));
    // A server knows better than a client.
    let both = [("User-Agent", "Go-http-client/2.0"), ("Server", "Kestrel")];
    assert_eq!(guessed("clerk", &both), is("ASP.NET", "server: Kestrel"));
    assert_eq!(guessed("clerk", &[("User-Agent", "Svix-Webhooks/1.4")]), None);
    let own = crate::providers().find_map(|provider| {
        let agent = provider.sample.as_ref()?.user_agent()?;
        agent.starts_with("Go-http-client").then_some((provider.id.as_str(), agent))
    });
    if let Some((provider, agent)) = own {
        assert_eq!(guessed(provider, &[("User-Agent", agent)]), None, "{provider} calls itself so");
    }
}

#[test]
fn proposed_rust_is_rust() {
    for id in ["axum", "actix"] {
        for code in versions(framework(id)) {
            assert!(syn::parse_file(&code).is_ok(), "{id}:\n{code}");
        }
    }
}

#[test]
fn proposed_code_is_taken_by_its_language() {
    let folder = tempfile::tempdir().unwrap();
    let (typescript, node) = (root().join("ui/node_modules/typescript"), node());
    let check_types = "const ts = require(process.argv[1]); \
        const text = require('fs').readFileSync(process.argv[2], 'utf8'); \
        const out = ts.transpileModule(text, { reportDiagnostics: true, \
          compilerOptions: { experimentalDecorators: true } }); \
        if (out.diagnostics.length) throw new Error(JSON.stringify(out.diagnostics.map(d => d.messageText)));";
    let typescript = typescript.to_string_lossy().into_owned();
    let parse = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
    let table: [(&[&str], &str, &str, &[&str]); 6] = [
        (&["express", "nextjs", "fastify"], "mjs", &node, &["--check"]),
        (&["nestjs"], "ts", &node, &["-e", check_types, &typescript]),
        (&["fastapi", "django", "flask"], "py", "python3", &["-c", parse]),
        (&["laravel"], "php", "php", &["-l"]),
        (&["rails"], "rb", "ruby", &["-c"]),
        (&["go"], "go", "gofmt", &["-e"]),
    ];
    for (ids, ending, program, arguments) in table {
        let tool = arguments.iter().find(|argument| argument.starts_with('/')).copied().unwrap_or(program);
        if !is_there(program) || !(tool == program || Path::new(tool).exists()) {
            // Not every machine has every language; those of the product's own set-up are always there.
            writeln!(std::io::stderr().lock(), "not parsed here, for want of {tool}: {ids:?}").unwrap();
            continue;
        }
        for (at, (id, code)) in ids
            .iter()
            .flat_map(|id| versions(framework(id)).into_iter().map(move |code| (id, code)))
            .enumerate()
        {
            let path = folder.path().join(format!("{at}.{ending}"));
            fs::write(&path, in_file(ending, &code)).unwrap();
            let run = Command::new(program).args(arguments).arg(&path).output().unwrap();
            assert!(run.status.success(), "{id}:\n{code}\n{}", String::from_utf8_lossy(&run.stderr));
        }
    }
}

/// Wraps a snippet so that it is a complete file.
fn in_file(ending: &str, code: &str) -> String {
    match ending {
        "php" => format!("<?php\n{code}"),
        "go" => format!("package main\n\n{code}"),
        _ => code.to_owned(),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the Node on the path, or the one that the set-up script installed.
fn node() -> String {
    let own = root().join(".tools/node/bin/node").to_string_lossy().into_owned();
    if is_there("node") { "node".to_owned() } else { own }
}

fn is_there(program: &str) -> bool {
    // gofmt has no --version. It reads from a closed input instead.
    let mut command = Command::new(program);
    let asked = if program == "gofmt" { &mut command } else { command.arg("--version") };
    asked
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|run| run.success())
}
