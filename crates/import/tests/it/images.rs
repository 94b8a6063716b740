//! Folders of images.

use std::path::Path;

use fabnet_import::Colours;

use crate::common::{all_rows, files, request};

/// Writes a grey PNG of 4×6 pixels with one value.
fn png(path: &Path, value: u8, (width, height): (u32, u32)) {
    let mut encoder = png::Encoder::new(std::fs::File::create(path).unwrap(), width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![value; (width * height) as usize]).unwrap();
}

/// Two folders of classes with five images each.
fn images(folder: &Path) {
    for (class, name) in ["cats", "dogs"].into_iter().enumerate() {
        std::fs::create_dir_all(folder.join("images").join(name)).unwrap();
        for number in 0..5 {
            let path = folder.join(format!("images/{name}/{number}.png"));
            png(&path, 10 * number + class as u8, (4, 6));
        }
    }
}

fn jpeg(folder: &Path, sample: &str) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(sample);
    std::fs::copy(sample, folder.join("images/cats/photo.JPG")).unwrap();
}

#[test]
fn images_have_the_class_of_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    images(folder);
    jpeg(folder, "grey.jpg");
    std::fs::write(folder.join("images/cats/Thumbs.db"), "").unwrap();
    std::fs::write(folder.join("images/notes.txt"), "").unwrap();
    let report = request(folder, &["images"]).carry_out().unwrap();
    assert_eq!((report.classes.as_slice(), report.features), (&["cats".to_owned(), "dogs".to_owned()][..], 24));
    let rows = all_rows(folder, &report);
    let values: Vec<(f64, u32)> = rows.iter().map(|(row, class)| (row[0], *class)).collect();
    let mut expected: Vec<(f64, u32)> =
        (0..10).map(|row| (f64::from(row / 2 * 10 + row % 2), row as u32 % 2)).collect();
    expected.push((200.0, 0));
    assert_eq!(values, expected);
    assert!(report.left_out[0].starts_with("2 files are no PNG or JPEG images of a class"), "{:?}", report.left_out);
}

#[test]
fn colours_are_kept_or_become_grey() {
    for (colours, features, expected) in [(Colours::Grey, 24, vec![76.0]), (Colours::Rgb, 72, vec![254.0, 0.0, 0.0])] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        images(folder);
        jpeg(folder, "red.jpg");
        let mut request = request(folder, &["images"]);
        request.colours = colours;
        let report = request.carry_out().unwrap();
        assert_eq!(report.features, features);
        let last = all_rows(folder, &report).pop().unwrap().0;
        assert_eq!(last[..expected.len()], expected);
    }
}

#[test]
fn images_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    images(folder);
    png(&folder.join("images/dogs/small.png"), 3, (4, 4));
    let whole = std::fs::read(folder.join("images/dogs/1.png")).unwrap();
    std::fs::write(folder.join("images/dogs/cut.png"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(folder.join("images/dogs/text.png"), "no image").unwrap();
    let mut request = request(folder, &["images"]);
    let message = request.carry_out().unwrap_err().to_string();
    for says in
        ["3 of 13 rows are broken", "small.png: 4×4 pixels, expected 4×6", "cut.png: not a readable", "text.png"]
    {
        assert!(message.contains(says), "{says}: {message}");
    }
    assert!(files(folder).is_empty());
    request.skip_broken = true;
    let report = request.carry_out().unwrap();
    assert_eq!((report.broken, all_rows(folder, &report).len()), (3, 10));
    std::fs::create_dir(folder.join("empty")).unwrap();
    request.inputs = vec![folder.join("empty")];
    assert!(request.carry_out().unwrap_err().to_string().contains("one folder for each class"));
}
