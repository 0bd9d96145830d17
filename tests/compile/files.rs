//! Files that no compiler likes: each ends with a diagnostic or a program, none with a crash (spec 2.1, 2.2).

use crate::project::{Files, SDK};
use callcell_compiler::{MAX_DEPTH, MAX_DIAGNOSTICS, MAX_MODULES, MAX_SOURCE_BYTES, Project};
use std::fmt::Write;
use std::path::Path;

/// A module that declares an agent named like this.
fn agent(name: &str) -> String {
    format!("{SDK}\nexport default createAgent({{ name: '{name}', instructions: 'Work.' }});\n")
}

#[test]
fn a_source_that_is_too_large_is_refused() {
    let limit = MAX_SOURCE_BYTES as usize;
    let text = |bytes: usize| {
        let agent = agent("a");
        format!("{agent}// {}", "x".repeat(bytes - agent.len() - 3))
    };
    assert_eq!(Files::one(&text(limit)).places(), [""; 0]);
    assert_eq!(Files::one(&text(limit + 1)).places(), ["a.ts:1:1 C_COMPILE_LIMIT"]);
    assert_eq!(Files::one(&text(20 << 20)).places(), ["a.ts:1:1 C_COMPILE_LIMIT"]);
}

#[test]
fn a_project_with_too_many_modules_is_refused() {
    for (count, refused) in [(MAX_MODULES, false), (MAX_MODULES + 1, true), (10_000, true)] {
        let files = Files::one("");
        let mut entry = agent("a");
        for number in 1..count {
            let _ = writeln!(entry, "import './m{number}.ts';");
            files.write(&format!("m{number}.ts"), "");
        }
        files.write("a.ts", &entry);
        let found = files.found();
        assert_eq!(found.iter().any(|it| it.code == "C_COMPILE_LIMIT"), refused, "{count}");
        assert_eq!(found.len(), usize::from(refused), "{count}");
    }
}

// D-13
#[test]
fn modules_that_are_too_large_together_are_refused() {
    let files = Files::one("");
    let mut entry = agent("a");
    for number in 0..17 {
        let _ = writeln!(entry, "import './m{number}.ts';");
        files.write(&format!("m{number}.ts"), format!("export const text = '{}';\n", "x".repeat((1 << 20) - 100)));
    }
    files.write("a.ts", &entry);
    assert_eq!(
        files.report(),
        ["m16.ts:1:1: C_COMPILE_LIMIT: with this module the project has more than 16777216 bytes of source"]
    );
}

#[test]
fn deep_nesting_is_refused() {
    for (open, inside, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{a:", "1", "}"),
        ("(a=", "1", ")=>1"),
        ("`${", "1", "}`"),
        ("a<", "1", ">(0)"),
        ("[{a:", "1", "}]"),
        ("(()=>{return ", "1", "})"),
    ] {
        let text = format!("let a: any = {}{inside}{};", open.repeat(5_000), close.repeat(5_000));
        let found = Files::declaring(&text).found();
        assert_eq!((found.len(), found[0].code.as_ref()), (1, "C_COMPILE_LIMIT"), "{open}");
    }
    let within = MAX_DEPTH / 2;
    let text = format!("const a = {}1{};\n", "[".repeat(within), "]".repeat(within));
    assert_eq!(Files::one(&format!("{}{text}", agent("a"))).places(), [""; 0]);
    // As `.tsx` these would be right, which is asked before JSX is refused by its name.
    let elements = format!("export const a = {}{};\n", "<a>".repeat(60_000), "</a>".repeat(60_000));
    assert_eq!(Files::one(&elements).places(), ["a.ts:1:18 C_SYNTAX"]);
    for text in ["<a>", "<>", "<a.b>", "<a b='c'>"] {
        Files::one(&format!("export const a = {}", text.repeat(30_000))).found();
    }
    for text in ["if (1) ", "!", "-", "a => ", "type A = ", "class extends ", "namespace N { ", "else "] {
        Files::declaring(&text.repeat(5_000)).found();
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let utf16: Vec<u8> = agent("a").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked: Vec<u8> = [0xFF, 0xFE].into_iter().chain(utf16.iter().copied()).collect();
    for bytes in [vec![0xFF], b"export const a = '\xC3';".to_vec(), marked, vec![0xED, 0xA0, 0x80]] {
        let files = Files::one("");
        files.write("a.ts", &bytes);
        let found = files.found();
        assert_eq!((found.len(), found[0].code.as_ref()), (1, "C_SYNTAX"), "{bytes:?}");
        assert_eq!(found[0].message, "the file is not valid UTF-8");
    }
    for bytes in [utf16, vec![0; 10_000], b"\x7fELF\x02\x01\x01".to_vec()] {
        let files = Files::one("");
        files.write("a.ts", &bytes);
        assert!(files.found().iter().all(|it| it.code == "C_SYNTAX"));
    }
}

#[test]
fn marks_line_ends_and_hashbangs_are_fine() {
    for text in [
        format!("\u{feff}{}", agent("a")),
        agent("a").replace('\n', "\r\n"),
        agent("a").replace('\n', "\r"),
        format!("#!/usr/bin/env callcell\n{}", agent("a")),
        agent("a").replace('\n', "\u{2028}"),
    ] {
        assert_eq!(Files::one(&text).places(), [""; 0], "{text:?}");
    }
    assert_eq!(Files::one("").places(), ["a.ts:1:1 C_NO_DEFINITION"]);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_a_missing_module() {
    let files = Files::one("import './folder.ts';\nimport './pipe.ts';\nimport './loop.ts';\nimport './gone.ts';\n");
    std::fs::create_dir(files.path("folder.ts")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(files.path("pipe.ts")).status().unwrap().success());
    files.link("loop.ts", "other.ts");
    files.link("other.ts", "loop.ts");
    files.link("gone.ts", "nowhere.ts");
    let found = files.found();
    let lines: Vec<_> =
        found.iter().map(|it| (it.line, it.code.as_ref(), it.category.map(|it| it.to_string()))).collect();
    let missing = Some("missing-module".to_owned());
    assert_eq!(lines, [1, 2, 3, 4].map(|line| (line, "C_IMPORT_UNSUPPORTED", missing.clone())));
}

// A file that the system does not let this process read. Nothing is kept from root.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_a_missing_module() {
    use std::os::unix::fs::PermissionsExt;
    let files = Files::one("import './closed.ts';\n");
    files.write("closed.ts", "");
    let path = files.path("closed.ts");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_err() {
        let found = files.found();
        assert_eq!((found.len(), found[0].code.as_ref()), (1, "C_IMPORT_UNSUPPORTED"));
        assert_eq!((found[0].file.as_str(), found[0].category.unwrap().as_str()), ("closed.ts", "missing-module"));
    }
}

// CB-113, CB-24: nothing outside is read
#[cfg(unix)]
#[test]
fn nothing_outside_of_the_project_is_read() {
    let outside = Files::one("export const secret = 1;\n");
    let target = outside.path("a.ts");
    let target = target.to_str().unwrap();
    let files = Files::one(&format!(
        "import {{ secret as a }} from './link.ts';\nimport {{ secret as b }} from './folder/a.ts';\n\
         import {{ secret as c }} from '{target}';\nimport {{ secret as d }} from '../../../../../../../..{target}';\n\
         console.log(a, b, c, d);\n"
    ));
    files.link("link.ts", target);
    files.link("folder", Path::new(target).parent().unwrap().to_str().unwrap());
    let found = files.found();
    let lines: Vec<_> = found.iter().map(|it| (it.line, it.category.map(|it| it.to_string()))).collect();
    assert_eq!(lines, [1, 2, 3, 4].map(|line| (line, Some("outside-project".to_owned()))));
    assert!(found.iter().all(|it| !it.to_string().contains("secret")));
}

#[test]
fn strange_specifiers_are_refused_in_sane_words() {
    let long = format!("./{}", "x".repeat(1 << 19));
    for specifier in [long.as_str(), "./a\\u0000b.ts", "./a\\nb.ts", "\\u001b[31m", "", " ", ".", "./", "..", "./%00"] {
        let found = Files::declaring(&format!("import '{specifier}';")).found();
        assert_eq!(found[0].code, "C_IMPORT_UNSUPPORTED", "{specifier:.30}");
        assert_eq!((found.len(), found[0].line), (1, 2), "{specifier:.30}");
        assert!(found[0].message.chars().count() < 600, "{specifier:.30}: {} bytes", found[0].message.len());
        for color in [false, true] {
            let drawn = found[0].render(color);
            let unsafe_text = drawn.replace('\n', "").replace("\u{1b}[", "");
            assert!(drawn.len() < 16_384 && !unsafe_text.contains(char::is_control), "{specifier:.30}");
        }
    }
    let words = |specifier: &str| Files::declaring(&format!("import '{specifier}';")).found()[0].message.clone();
    assert_eq!(words(""), "the package `` cannot be imported");
    assert_eq!(words("./%00"), "`./%00` names no file: there is no `%00.ts`");
    assert_eq!(words(".."), "`..` leads outside the project");
    assert_eq!(
        words(&format!("./{}", "x".repeat(300))),
        format!("`./{}…` names no file: there is no `{}…`", "x".repeat(198), "x".repeat(200))
    );
}

// 2.1: a project's text must not act on the terminal of whoever compiles it
#[test]
fn a_frame_shows_no_control_characters() {
    let found = Files::one("const a = '\u{1b}]0;title\u{7}' import \u{202e};\n").found();
    for color in [false, true] {
        let drawn = found[0].render(color);
        assert!(drawn.contains("\\u{1b}]0;title\\u{7}") && !drawn.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{drawn}");
    }
    let clean = Files::one("const a = ;\n").found();
    assert!(clean[0].render(true).contains("\u{1b}["), "colours where nothing can be mistaken for them");
    let wide = Files::one(&format!("const a = '{}'; const b = ;\n", "x".repeat(100_000))).found();
    assert!(wide[0].render(false).len() < 500, "{}", wide[0].render(false).len());
}

// 2.1 step 2
#[test]
fn a_wrong_regular_expression_is_one_problem() {
    assert_eq!(
        Files::one("export const a = /[/;\n").report(),
        ["a.ts:1:18: C_SYNTAX: Unterminated regular expression"]
    );
}

#[test]
fn many_imports_and_many_problems_are_bounded() {
    let many: String = (0..40_000).map(|number| format!("import 'package{number}';\n")).collect();
    let found = Files::one(&many).found();
    assert_eq!((found.len(), found[MAX_DIAGNOSTICS - 1].code.as_ref()), (MAX_DIAGNOSTICS, "C_COMPILE_LIMIT"));
    let same = format!("{}{}", "import './b.ts';\n".repeat(40_000), agent("a"));
    let files = Files::one(&same);
    files.write("b.ts", "");
    assert_eq!(files.places(), [""; 0]);
    let declared = "let a = 1;\n".repeat(50_000);
    assert!(Files::one(&declared).found().len() <= MAX_DIAGNOSTICS);
}

// names that mean something to objects
#[test]
fn modules_and_exports_may_have_any_name() {
    let files = Files::new(&[(
        "constructor.ts",
        "import * as proto from './__proto__.ts';
import { ü } from './größe/日本.ts';
import { createAgent } from '@eigenpal/automations';
const made = createAgent({ name: 'a', instructions: `${proto.toString} ${ü}` });
export { made as __proto__, made as toString, made as 'any name' };
",
    )]);
    files.write("__proto__.ts", "export const toString = 'mine';\n");
    files.write("größe/日本.ts", "export const ü = 'ja';\n");
    let manifest = files.compilation().bundle.manifest;
    assert_eq!(manifest.agents[0]["instructions"], "mine ja");
    let mut names: Vec<_> =
        manifest.agents[0]["aliases"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
    names.push(manifest.agents[0]["export"].as_str().unwrap());
    names.sort_unstable();
    assert_eq!(names, ["__proto__", "any name", "toString"]);
}

#[test]
fn an_entry_that_cannot_be_one_is_refused() {
    let files = Files::one(&agent("a"));
    files.write("a.js", "");
    files.write("types.d.ts", "");
    let code = |entry: &str| {
        Project::with_root(files.path("").as_path(), Path::new(entry)).map_err(|error| error.code()).err()
    };
    assert_eq!(code("a.ts"), None);
    assert_eq!(code("./x/../a.ts"), None);
    for entry in ["a.js", "types.d.ts", "none.ts", "", "."] {
        assert_eq!(code(entry), Some("C_IMPORT_UNSUPPORTED"), "{entry}");
    }
    assert_eq!(code("../a.ts"), Some("C_PATH_ESCAPE"));
    assert_eq!(code("/etc/passwd"), Some("C_PATH_ESCAPE"));
}
