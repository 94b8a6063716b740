//! Charts in many shapes: curves stay within their frames, and texts are legible.

use fabnet_lab::Folder;
use fabnet_lab::figure::{Format, Request, draw_as};
use resvg::usvg::{Options, Tree};
use tempfile::TempDir;

use super::figures::{EXPERIMENT, HEADER, ended_run, folder, svg, write_summary};

/// An experiment with this many groups, and records of two seeds each: some curves leave the frame,
/// some coincide, and one has an excursion.
fn scene(groups: usize, label: impl Fn(usize) -> String) -> (TempDir, Folder) {
    let head = EXPERIMENT.split("[[algorithm]]").next().unwrap();
    let tables = (0..groups).map(|group| format!("[[algorithm]]\nlabel = \"{}\"\nkind = \"fab\"\n", label(group)));
    let tail = "[record]\nevery = 1\nmetrics = [\"relative_error\", \"hypergradient\"]\n";
    let mut records = HEADER.to_owned();
    for run in 0..2 * groups {
        let (group, seed) = (run / 2, run % 2);
        for round in 0..=20 {
            let rate = if group % 4 == 3 { 1.9 } else { 0.75 + 0.01 * (group / 2 + seed) as f64 };
            let error = if group == 0 && round == 7 { 1e30 } else { rate.powi(round) };
            let (seconds, bytes) = (0.01 * f64::from(round), 80 * round);
            records.extend([format!("{run},\"{}\",{seed},{round},{seconds},{bytes},{error},\n", label(group))]);
        }
    }
    let (home, folder) = folder(&format!("{head}{}{tail}", tables.collect::<String>()), &records);
    let outcome = |run: usize| if run / 2 % 4 == 3 { "diverged" } else { "finished" };
    let ended = |run: usize| ended_run(run, &label(run / 2), run as u64 % 2, outcome(run));
    write_summary(&folder, (0..2 * groups).map(ended));
    (home, folder)
}

/// Charts in many shapes, as SVG documents.
fn scenes() -> Vec<(String, String)> {
    let long = |group: usize| format!("the {group}-th of several methods with a name that goes on and on, x=0.{group}");
    let mut scenes = Vec::new();
    for groups in [1, 2, 4, 8, 9, 21] {
        for (kind, label) in [("short", (|group| format!("m{group}")) as fn(usize) -> String), ("long", long)] {
            let (_home, folder) = scene(groups, label);
            for width in [None, Some("3.25in"), Some("84mm"), Some("5in"), Some("7in")] {
                let width = width.map(|width| width.parse().unwrap());
                let request = Request { width, formats: vec![Format::Svg], ..Request::default() };
                draw_as(&folder, &request).unwrap();
                for effort in ["rounds", "bytes"] {
                    let name = format!("{groups} {kind} labels by {effort} in {width:?}");
                    scenes.push((name, svg(&folder, &format!("relative_error-by-{effort}.svg"))));
                }
            }
        }
    }
    scenes
}

/// The values of an attribute, in order.
fn attributes<'s>(svg: &'s str, name: &str) -> Vec<&'s str> {
    let start = format!(" {name}=\"");
    svg.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

fn positions(points: &str) -> Vec<(f64, f64)> {
    let number = |text: &str| text.parse::<f64>().unwrap();
    points.split(' ').filter_map(|pair| pair.split_once(',')).map(|(x, y)| (number(x), number(y))).collect()
}

#[test]
fn every_curve_stays_within_its_frame() {
    for (name, svg) in scenes() {
        let mut frame = Vec::new();
        let mut curves = 0;
        for line in svg.lines() {
            let points = attributes(line, "points").first().map(|points| positions(points)).unwrap_or_default();
            if line.contains("stroke-width=\"0.7\"") {
                frame = points;
            } else if line.starts_with("<polyline") && line.contains("stroke-width=\"1.2\"") && points.len() > 2 {
                let ((left, top), (right, bottom)) = (frame[0], frame[2]);
                curves += 1;
                for (x, y) in points {
                    let inside = (left - 0.02..=right + 0.02).contains(&x) && (top - 0.02..=bottom + 0.02).contains(&y);
                    assert!(inside, "{name}: ({x}, {y}) is outside of {frame:?}");
                }
            }
        }
        assert!(curves > 0, "{name} has no curve");
    }
}

#[test]
fn a_curve_that_leaves_is_marked() {
    for (name, svg) in scenes() {
        let groups: usize = name.split(' ').next().unwrap().parse().unwrap();
        // Every fourth group diverges, and the first has an excursion.
        assert_eq!(svg.matches("class=\"leaves\"").count(), 1 + groups / 4, "{name}");
        assert_eq!(svg.matches("2 of 2 diverged").count(), groups / 4, "{name}");
    }
}

#[test]
fn texts_are_large_enough_and_do_not_overlap() {
    let mut options = Options::default();
    options.fontdb_mut().load_font_data(include_bytes!("../../assets/DejaVuSans-subset.ttf").to_vec());
    for (name, svg) in scenes() {
        let sizes = attributes(&svg, "font-size");
        assert!(sizes.iter().all(|size| size.parse::<f64>().unwrap() >= 8.0), "{name}: {sizes:?}");
        let tree = Tree::from_str(&svg, &options).unwrap();
        let (mut boxes, mut groups) = (Vec::new(), vec![tree.root()]);
        while let Some(group) = groups.pop() {
            for node in group.children() {
                match node {
                    resvg::usvg::Node::Group(group) => groups.push(group),
                    resvg::usvg::Node::Text(text) => {
                        boxes.push((text.chunks()[0].text().to_owned(), text.abs_bounding_box()));
                    }
                    _ => (),
                }
            }
        }
        assert!(boxes.len() > 4, "{name} has {} texts", boxes.len());
        for (place, (text, area)) in boxes.iter().enumerate() {
            let sheet = tree.size();
            let inside = area.left() >= 0.0
                && area.top() >= 0.0
                && area.right() <= sheet.width()
                && area.bottom() <= sheet.height();
            assert!(inside, "{name}: `{text}` is not on the sheet");
            for (other, beside) in &boxes[..place] {
                let apart = area.right() <= beside.left()
                    || beside.right() <= area.left()
                    || area.bottom() <= beside.top()
                    || beside.bottom() <= area.top();
                assert!(apart, "{name}: `{text}` overlaps `{other}`");
            }
        }
    }
}
