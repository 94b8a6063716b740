#!/usr/bin/env python3
"""The scripts of this folder, tested on small trees with planted faults.

tests/house/selftest.py
"""

import pathlib
import tempfile
import unittest

import circles
import house
import names
import prose
import rust
import sizes


class Planted(unittest.TestCase):
    """A tree of files that exists for one test."""

    def tree(self, **files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in files.items():
            path = pathlib.Path(folder.name, name.replace("__", "/"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return house.Tree(folder.name)

    def crate(self, **files):
        """One crate called `a`, with these files in its src."""
        sources = {
            f"crates/a/src/{name.replace('__', '/')}.rs": text for name, text in files.items()
        }
        return self.tree(**{"crates/a/Cargo.toml": ""}, **sources)


class Lexer(unittest.TestCase):
    def code(self, text):
        return rust.Source(text).code

    def test_comments_and_strings_are_blanked_and_lines_stay(self):
        source = rust.Source(
            'let a = "// no comment"; // a comment "x"\n/* b /* nested */ c */ let d;\n'
        )
        self.assertEqual(source.code.count("\n"), 2)
        self.assertNotIn("comment", source.code)
        self.assertNotIn("nested", source.code)
        self.assertNotIn(" c ", source.code)
        self.assertIn("let d;", source.code)
        self.assertEqual([literal.text for literal in source.strings], ["// no comment"])

    def test_raw_strings_end_where_they_say(self):
        source = rust.Source('let a = r#"quote " and // slashes"#; let b = br"x"; struct Real;')
        self.assertEqual(
            [literal.text for literal in source.strings], ['quote " and // slashes', "x"]
        )
        self.assertIn("struct Real;", source.code)

    def test_lifetimes_are_not_characters(self):
        code = self.code("fn f<'a>(x: &'a str) -> char { '\\'' } // '")
        self.assertIn("fn f<'a>(x: &'a str)", code)
        self.assertNotIn("\\", code)
        self.assertIn("struct B;", self.code("let q = '\"'; struct B; let r = b'\"';"))

    def test_marks_of_comments_are_told_apart(self):
        source = rust.Source("//! a\n/// b\n// c\n//// d\nlet x; // e\n")
        self.assertEqual(
            [comment.mark for comment in source.comments], ["//!", "///", "//", "//", "//"]
        )
        self.assertEqual([comment.alone for comment in source.comments], [True] * 4 + [False])

    def test_items_are_found_with_what_holds_them(self):
        method = "fn next(&self) -> impl Fn() where T: X { move || {} }"
        text = f"impl Iterator for A {{ type Item = u8; {method} }}\ntrait T {{ fn f(&self); }}"
        found = [(item.kind, item.name, item.within) for item in rust.Source(text).items]
        expected = [
            ("type", "Item", "impl"),
            ("fn", "next", "impl"),
            ("impl", "", ""),
            ("fn", "f", "trait"),
            ("trait", "T", ""),
        ]
        self.assertEqual(found, expected)

    def test_tests_are_told_from_code(self):
        text = "struct A;\n#[cfg(test)]\n#[allow(x)]\nmod tests { struct B; fn f() {} }\n"
        text += '#[cfg(any(test, feature = "x"))]\nstruct C;'
        source = rust.Source(text)
        self.assertEqual(
            {item.name: item.test for item in source.items},
            {"A": False, "B": True, "f": True, "tests": True, "C": False},
        )
        self.assertIn("struct C", source.without_tests)
        self.assertNotIn("struct B", source.without_tests)


class Circles(Planted):
    def count(self, kind="files", **files):
        checks = circles.measure(self.crate(**files))
        check = next(check for check in checks if check.name == f"circles.{kind}.a")
        return int(check.measured.split()[0])

    def test_use_declarations_in_a_circle(self):
        self.assertEqual(
            self.count(
                lib="mod x; mod y;",
                x="use crate::y::B; pub struct A(B);",
                y="use crate::x::A; pub struct B(Vec<A>);",
            ),
            1,
        )
        self.assertEqual(
            self.count(
                lib="mod x; mod y;", x="use crate::y::B; pub struct A(B);", y="pub struct B;"
            ),
            0,
        )

    def test_re_exports_lead_to_the_module_that_defines(self):
        lib = "mod x; mod y; pub use x::A; pub use y::{C as D, B};"
        self.assertEqual(
            self.count(
                lib=lib,
                x="use crate::B; pub struct A(B);",
                y="use crate::A; pub struct B(Vec<A>); pub struct C;",
            ),
            1,
        )
        self.assertEqual(
            self.count(
                lib=lib,
                x="use crate::D; pub struct A(D);",
                y="pub struct C(Vec<crate::A>); pub struct B;",
            ),
            1,
        )

    def test_paths_in_code_count(self):
        self.assertEqual(
            self.count(
                lib="mod x; mod y;",
                x="pub fn a() { crate::y::b() }",
                y="pub fn b() { super::x::a() }",
            ),
            1,
        )

    def test_nested_trees_and_globs_count(self):
        lib = "pub mod p; pub mod q;"
        self.assertEqual(
            self.count(
                lib=lib,
                p="use crate::{q::{self, B}}; pub struct A(B); fn f() { q::g() }",
                q="use crate::p::*; pub struct B(Vec<A>); pub fn g() {}",
            ),
            1,
        )
        self.assertEqual(
            self.count(
                lib=lib,
                p="use crate::{q::{self, B}}; pub struct A(B); fn f() { q::g() }",
                q="use crate::p::*; pub struct B; pub fn g() {}",
            ),
            0,
        )

    def test_functions_named_through_a_glob_count(self):
        files = {"lib": "pub mod p; pub mod q;", "q": "use crate::p::*; pub fn g() { f() }"}
        self.assertEqual(self.count(p="pub fn f() { crate::q::g() }", **files), 1)
        self.assertEqual(self.count(p="pub fn f() {} fn h() { g.f() }", **files), 0)

    def test_a_module_that_only_re_exports_is_no_node(self):
        files = {"lib": "mod p;", "p__x": "use super::B; pub struct A(B);", "p__y": "pub struct B;"}
        self.assertEqual(self.count(p__mod="mod x; mod y; pub use x::A; pub use y::B;", **files), 0)

    def test_a_parent_with_code_and_its_child_are_a_circle(self):
        child = "use super::Parent; pub struct Child(Vec<Parent>);"
        self.assertEqual(
            self.count(
                lib="mod p;", p__mod="mod x; pub use x::Child; pub struct Parent;", p__x=child
            ),
            0,
        )
        self.assertEqual(
            self.count(
                lib="mod p;",
                p__mod="mod x; pub use x::Child; pub struct Parent(Child);",
                p__x=child,
            ),
            1,
        )

    def test_folders_are_compared_as_wholes(self):
        files = {"lib": "mod p; mod q;", "p__mod": "mod a; mod b;", "q__mod": "mod c; mod d;"}
        files |= {
            "p__a": "use crate::q::c::C; struct A(C);",
            "p__b": "pub struct B;",
            "q__c": "pub struct C;",
            "q__d": "use crate::p::b::B; struct D(B);",
        }
        files |= {"p__mod": "pub mod a; pub mod b;", "q__mod": "pub mod c; pub mod d;"}
        self.assertEqual(self.count("files", **files), 0)
        self.assertEqual(self.count("folders", **files), 1)

    def test_tests_do_not_count(self):
        y = "pub struct B;\n#[cfg(test)]\nmod tests { use crate::x::A; fn f(_: A) {} }"
        self.assertEqual(
            self.count(lib="mod x; mod y;", x="use crate::y::B; pub struct A(B);", y=y), 0
        )


class Names(Planted):
    def test_the_same_name_twice_is_found_within_and_across_crates(self):
        tree = self.tree(
            **{
                "crates/a/Cargo.toml": "",
                "crates/b/Cargo.toml": "",
                "crates/a/src/lib.rs": "mod x;\n\n#[derive(Debug)]\nstruct Part;",
                "crates/a/src/x.rs": "enum Part { A }\npub trait Only {}",
                "crates/b/src/lib.rs": "trait Own { type Only; }\ntype Only = u8;",
                "tests/house/shared_names.tsv": "# name\treason\n",
            }
        )
        within, across = names.measure(tree)
        self.assertEqual(
            [str(fault) for fault in within.faults],
            ["crates/a/src/lib.rs:4: struct Part", "crates/a/src/x.rs:1: enum Part"],
        )
        self.assertEqual([fault.text for fault in across.faults], ["trait Only", "type Only"])

    def test_a_reason_makes_a_shared_name_good_and_an_old_one_is_found(self):
        tree = self.tree(
            **{
                "crates/a/Cargo.toml": "",
                "crates/b/Cargo.toml": "",
                "crates/a/src/lib.rs": "struct Run;",
                "crates/b/src/lib.rs": "struct Run;",
                "tests/house/shared_names.tsv": "Run\tthe same thing\nOld\tno longer\n",
            }
        )
        self.assertEqual(
            [fault.text for fault in names.measure(tree)[1].faults],
            ["Old is no longer shared: take it off the list"],
        )


class Sizes(Planted):
    def faults(self, name, **files):
        return [
            str(fault)
            for check in sizes.measure(self.crate(**files))
            if check.name == name
            for fault in check.faults
        ]

    def test_long_functions_are_found_and_comments_are_free(self):
        long = "\nfn f() {\n" + "    g();\n" * 59 + "}\n"
        commented = "fn f() {\n" + "    // why\n\n" * 59 + "    g();\n}\n"
        self.assertEqual(
            self.faults("sizes.functions", lib=long),
            ["crates/a/src/lib.rs:2: f has 61 lines of code"],
        )
        self.assertEqual(self.faults("sizes.functions", lib=commented), [])
        self.assertEqual(len(self.faults("sizes.p90.a", lib=long)), 1)

    def test_long_files_are_found(self):
        self.assertEqual(self.faults("sizes.files", lib="//\n" * 350), [])
        self.assertEqual(
            self.faults("sizes.files", lib="//\n" * 351), ["crates/a/src/lib.rs:351: 351 lines"]
        )

    def test_fields_of_a_peer_are_counted(self):
        fields = "".join(
            f"    /// Field: {i}.\n    pub(super) f{i}: Vec<a::B>,\n" for i in range(13)
        )
        tree = self.tree(
            **{
                "crates/core/Cargo.toml": "",
                "crates/core/src/peer/mod.rs": f"pub struct Peer<T> {{\n{fields}}}",
            }
        )
        self.assertEqual(sizes.peer_fields(tree)[0], 13)

    def test_quantiles_are_values_that_occur(self):
        self.assertEqual(sizes.quantile(range(1, 11), 90), 9)
        self.assertEqual(sizes.quantile([7], 90), 7)


class Prose(Planted):
    def faults(self, name, **files):
        checks = prose.measure(self.tree(**files))
        return [
            f"{fault.path}:{fault.line}"
            for check in checks
            if check.name == name
            for fault in check.faults
        ]

    def test_wide_comments_are_found_and_wide_code_is_not(self):
        text = (
            f"/// {'x' * 97}\nlet a = {'1' * 110};\n// {'y' * 97}\nlet b = {'1' * 90}; // zz zz\n"
        )
        self.assertEqual(
            self.faults("prose.comments", **{"crates/a.rs": text}),
            ["crates/a.rs:1", "crates/a.rs:4"],
        )

    def test_wide_markdown_is_found_outside_tables_and_code(self):
        wide = "word " * 25
        text = f"# {wide}\n{wide}\n| {wide} |\n```\n{wide}\n```\n    {wide}\n"
        text += f"- [a]({'l' * 100})\n- {wide}\n"
        self.assertEqual(self.faults("prose.markdown", **{"a.md": text}), ["a.md:2", "a.md:9"])

    def test_short_doc_comments_are_found(self):
        text = "/// Whose.\nx: u8,\n/// How\n/// much.\ny: u8,\n"
        text += "/// The node's name.\n// Why.\nz: u8,\n"
        self.assertEqual(
            self.faults("prose.short", **{"crates/a.rs": text}), ["crates/a.rs:1", "crates/a.rs:3"]
        )

    def test_wordings_are_found_over_line_ends_and_in_messages(self):
        text = '/// What nothing speaks\n/// against it means.\nlet a = "take smaller steps";\n'
        text += 'let b = "steps";\n// `steps` and gradient steps are fine.\n'
        self.assertEqual(
            self.faults("prose.wordings", **{"crates/a.rs": text}),
            ["crates/a.rs:1", "crates/a.rs:3"],
        )
        text = "Some\nnumbers of 792 bytes a message, steps = 3.\n\n```\nso many\n```\nso many\n"
        self.assertEqual(self.faults("prose.wordings", **{"a.md": text}), ["a.md:2", "a.md:7"])

    def test_wordings_in_python_and_experiments_are_found(self):
        files = {
            "python/a.py": 'def f():\n    """With so many."""\n    return "steps"  # see there\n',
            "experiments/a.toml": "# Torn to\n# and fro.\nsteps = 1\n",
        }
        self.assertEqual(
            self.faults("prose.wordings", **files),
            ["experiments/a.toml:1", "python/a.py:2", "python/a.py:3"],
        )


if __name__ == "__main__":
    unittest.main()
