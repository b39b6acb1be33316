use super::super::fixture::{TestFolder, path};
use super::*;

fn outside(result: Result<RelativePath, PathError>) -> bool {
    matches!(result, Err(PathError::Outside { .. }))
}

fn invalid(result: Result<RelativePath, PathError>) -> bool {
    matches!(result, Err(PathError::Invalid { .. }))
}

#[test]
fn texts_become_workspace_paths() {
    let place = TestFolder::new();
    place.folder("ws/.orchestration");
    place.folder("ws-evil/src");
    place.write("ws/src/auth/a.ts", "");
    let root = place.root("ws");
    let cwd = place.join("ws/src");
    let get = |target: &str| root.relative(&cwd, Path::new(target));
    let inside = [
        ("auth/a.ts", "src/auth/a.ts"),
        ("./auth//a.ts", "src/auth/a.ts"),
        ("auth/", "src/auth"),
        ("../README.md", "README.md"),
        ("auth/new/deep.ts", "src/auth/new/deep.ts"),
        ("new/../x", "src/x"),
        ("auth/../../src/x", "src/x"),
        ("../../ws/src/x", "src/x"),
        (".", "src"),
        ("auth/[id].ts", "src/auth/[id].ts"),
        ("-rf", "src/-rf"),
        ("auth/a.ts/../b.ts", "src/auth/b.ts"),
    ];
    for (target, wanted) in inside {
        assert_eq!(get(target).unwrap(), path(wanted), "{target:?}");
        let absolute = cwd.join(target);
        let got = root.relative(Path::new("/elsewhere"), &absolute).unwrap();
        assert_eq!(got, path(wanted), "{target:?}");
    }
    for target in ["../../x", "auth/../../../etc/passwd", "/etc/passwd", "/", "../../ws-evil/src/x"]
    {
        assert!(outside(get(target)), "{target:?}: {:?}", get(target));
    }
    for target in ["", "..", "../", "a\0b", "auth/a.ts/x", "auth/a.ts/x/y"] {
        assert!(invalid(get(target)), "{target:?}: {:?}", get(target));
    }
    assert!(invalid(root.relative(Path::new("src"), Path::new("a"))));
    assert_eq!(root.relative(Path::new("src"), &cwd.join("a")).unwrap(), path("src/a"));
}

#[cfg(unix)]
#[test]
fn links_are_followed_before_a_path_is_inside() {
    let place = TestFolder::new();
    place.folder("ws/.orchestration");
    place.folder("ws/src/auth/deep");
    place.folder("ws/lib");
    place.write("ws/lib/x.ts", "");
    place.write("out/secret", "");
    place.link("ws/src/auth/link", "/etc");
    place.link("ws/src/inner", "../lib");
    place.link("ws/src/file.ts", "../lib/x.ts");
    place.link("ws/src/dangling-out", place.join("out/none"));
    place.link("ws/src/dangling-in", "../lib/none");
    place.link("ws/src/chain", "dangling-out");
    place.link("ws/src/circle", "circle");
    place.link("ws/src/up", "auth/deep");
    place.link("ws/src/self", "..");
    place.link("shown", place.join("ws"));
    place.link("into", place.join("ws/lib"));
    let root = place.root("ws");
    let relative = |target: &str| root.relative(place.path(), Path::new(target));
    let resolve = |target: &str| root.resolve(&path(target));
    for target in ["src/auth/link/passwd", "src/auth/link", "src/dangling-out", "src/chain"] {
        assert!(outside(relative(&format!("ws/{target}"))), "{target}");
        assert!(outside(resolve(target)), "{target}");
    }
    assert!(invalid(relative("ws/src/circle")));
    assert!(invalid(resolve("src/circle/x")));
    let inside = [
        ("src/inner/new.ts", "lib/new.ts"),
        ("src/file.ts", "lib/x.ts"),
        ("src/dangling-in", "lib/none"),
        ("src/self/lib/x.ts", "lib/x.ts"),
        ("src/plain/new.ts", "src/plain/new.ts"),
    ];
    for (shown, really) in inside {
        assert_eq!(relative(&format!("ws/{shown}")).unwrap(), path(shown));
        assert_eq!(resolve(shown).unwrap(), path(really));
    }
    assert!(invalid(resolve("src/self")), "the root itself");
    assert!(invalid(relative("ws/src/up/../x")), "src/x to a reader, src/auth/x to the system");
    assert!(outside(relative("ws/src/../../out/secret")));
    assert_eq!(relative("shown/lib/x.ts").unwrap(), path("lib/x.ts"));
    assert_eq!(relative("shown/src/inner/x.ts").unwrap(), path("src/inner/x.ts"));
    assert_eq!(relative("into/x.ts").unwrap(), path("lib/x.ts"));
}
