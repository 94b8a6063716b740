//! The page: its parts as one HTML file.

use std::sync::LazyLock;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// The parts of a page, in their order.
macro_rules! parts {
    ($($name:literal)*) => { concat!($(include_str!(concat!("../page/", $name)), "\n"),*) };
}

const SKELETON: &str = include_str!("../page/page.html");
const STYLE: &str = parts!("vendor/uPlot.min.css" "style.css" "sections.css" "media.css");
const SCRIPT: &str = parts!(
    "vendor/uPlot.iife.min.js" "base.js" "format.js" "decode.js" "run.js" "events.js" "verdict.js" "head.js"
    "stream.js" "time.js" "network.js" "graph.js" "matrix.js" "chart.js" "curves.js" "waterfall.js" "ribbon.js"
    "table.js" "books.js" "log.js" "day.js" "main.js"
);

/// What every page may do: run its own script and use its own style.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
});

/// What a page that is served may do: what every page may, and ask its own server.
pub fn content_security_policy() -> String {
    format!("{}; connect-src 'self'", *POLICY)
}

/// The page, with data inside if it is to be shown without a server. Then it may ask nobody: in a
/// frame of another page, such as a notebook, `'self'` would be the server of that page.
pub fn page(data: Option<&str>) -> String {
    let policy = if data.is_none() { content_security_policy() } else { POLICY.clone() };
    let policy = format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n");
    // In JSON, this letter stands only within strings.
    let data = data.map(|data| data.replace('<', "\\u003c"));
    let data = data.map(|data| format!("<script type=\"application/json\" id=\"data\">{data}</script>"));
    SKELETON
        .replacen("<!--STYLE-->", &format!("{policy}<style>{STYLE}</style>"), 1)
        .replacen("<!--SCRIPT-->", &format!("<script>{SCRIPT}</script>"), 1)
        .replacen("<!--DATA-->", &data.unwrap_or_default(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_asks_nobody_else() {
        let page = page(None);
        assert!(!page.contains("<!--") && page.contains("<title>") && page.ends_with("</html>\n"));
        assert!(!STYLE.contains("</style") && !SCRIPT.contains("</script"));
        // The name of SVG, and the home of uPlot in its licence.
        let named = ["http://www.w3.org/2000/svg", "https://github.com/leeoniya/uPlot"];
        assert!(!named.iter().fold(page, |page, name| page.replace(name, "")).contains("://"));
    }

    #[test]
    fn a_page_with_data_may_ask_nobody() {
        assert!(page(None).contains("connect-src 'self'"));
        assert!(page(Some("{}")).contains("default-src 'none'") && !page(Some("{}")).contains("connect-src"));
    }

    #[test]
    fn data_cannot_leave_its_element() {
        let page = page(Some(r#"{"names":["</script><script>alert(1)</script>"]}"#));
        assert!(!page.contains("alert(1)</script>"));
        assert!(page.contains(r#"["\u003c/script>"#));
    }
}
