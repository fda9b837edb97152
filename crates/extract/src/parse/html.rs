//! HTML: the main content as Markdown, with the title and what the head says.

use std::rc::Rc;

use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, Options};
use markup5ever_rcdom::{Node, NodeData};

use super::{Read, Source, text};
use crate::builder::{Builder, language_of_tag};
use crate::document::Markup;
use crate::encoding::decode;
use crate::error::{ExtractError, Limit};

/// Elements whose content is no text that is read. A form is not one of them: whole pages stand in one.
const LEFT_OUT: &[&str] = &[
    "head", "script", "style", "noscript", "template", "svg", "iframe", "object", "select", "input",
    "textarea", "img", "video", "audio", "canvas", "dialog",
];

/// Elements that have a foot of their own, which is no foot of the page.
const SECTIONING: &[&str] = &["article", "main", "section", "blockquote", "aside", "figure", "details", "td"];

/// Share of the page's letters that an article needs to be taken for the page, of a hundred.
const ARTICLE: u64 = 60;
/// The same of a main element, which says of itself that it is the content.
const MAIN: u64 = 20;

/// Text in which a page stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A site: around the content stands what leads to other pages.
    Site,
    /// A message: all of it is content.
    Message,
}

/// Bytes in which a page declares its encoding.
const HEAD: usize = 4 << 10;

pub(super) fn read(source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    let declared = text::charset(source.request.media_type.as_deref())
        .map(str::to_owned)
        .or_else(|| declared_charset(source.content));
    markdown(&decode(source.content, declared.as_deref()), Place::Site, builder)?;
    Ok(Markup::Markdown)
}

/// Adds a page to a document.
pub(super) fn markdown(page: &str, place: Place, builder: &mut Builder<'_>) -> Result<(), ExtractError> {
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let converter = HtmlToMarkdown::builder()
        .options(options)
        .scripting_enabled(false)
        .skip_tags(LEFT_OUT.to_vec())
        .build();
    let tree = converter.html_to_tree(page).map_err(ExtractError::parse)?;
    let found = survey(&tree, place, builder.limits.nesting)?;
    if builder.language.is_none() {
        builder.language = found.language.as_deref().and_then(language_of_tag);
    }
    if builder.title.is_none() {
        builder.titled(found.title.as_deref());
    }
    for (name, value) in &found.metadata {
        builder.note(name, Some(value));
    }
    // The tree takes the children of all its nodes with it when it is dropped, so it must stay.
    let body = found.body.clone().unwrap_or_else(|| Rc::clone(&tree));
    let whole = amount(&body);
    let main = match place {
        Place::Site => found.content(whole),
        Place::Message => None,
    };
    let taken = main.as_ref().map_or(whole, amount);
    if taken.letters * 2 < whole.letters + found.beside {
        let left = whole.letters + found.beside - taken.letters;
        builder.warnings.push(format!("{left} letters stand beside the page's content and were left out"));
    }
    let main = main.unwrap_or(body);
    let text = converter.tree_to_markdown(&main);
    builder.push(text.trim())
}

/// Findings of a pass over the tree.
#[derive(Default)]
struct Survey {
    main: Option<Rc<Node>>,
    /// The one article; none where a page has several.
    article: Option<Rc<Node>>,
    articles: usize,
    body: Option<Rc<Node>>,
    /// Letters of what was taken out of the tree and is shown.
    beside: u64,
    title: Option<String>,
    language: Option<String>,
    metadata: Vec<(&'static str, String)>,
}

/// Whether an element is not shown.
fn is_hidden(node: &Rc<Node>) -> bool {
    attribute(node, "hidden").is_some()
}

/// Whether an element of a site says of itself that it is not the page's content. One that has a foot of its own stands
/// around `within`.
fn is_beside(node: &Rc<Node>, within: bool) -> bool {
    let role = attribute(node, "role");
    let is_told =
        matches!(role.as_deref(), Some("navigation" | "banner" | "contentinfo" | "search" | "complementary"));
    is_told || is_one_of(node, &["nav"]) || (!within && is_one_of(node, &["footer"]))
}

fn is_one_of(node: &Rc<Node>, names: &[&str]) -> bool {
    matches!(&node.data, NodeData::Element { name, .. } if names.contains(&&*name.local))
}

/// Letters and headings of a part of a page, of what is read.
#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    letters: u64,
    headings: u64,
}

fn amount(part: &Rc<Node>) -> Amount {
    let mut amount = Amount::default();
    let mut open = vec![Rc::clone(part)];
    while let Some(node) = open.pop() {
        if is_one_of(&node, LEFT_OUT) {
            continue;
        }
        if let NodeData::Text { contents } = &node.data {
            let letters = contents.borrow().chars().filter(|letter| !letter.is_whitespace()).count();
            amount.letters += letters as u64;
        }
        amount.headings += u64::from(is_one_of(&node, &["h1", "h2", "h3", "h4", "h5", "h6"]));
        open.extend(node.children.borrow().iter().map(Rc::clone));
    }
    amount
}

/// Looks at every element, without recursion: the tree may be as deep as the file is long. What is not content is taken
/// out of the tree.
fn survey(tree: &Rc<Node>, place: Place, deepest: u64) -> Result<Survey, ExtractError> {
    let mut found = Survey::default();
    let mut open = vec![(Rc::clone(tree), 0, false)];
    while let Some((node, depth, within)) = open.pop() {
        if depth > deepest {
            return Err(ExtractError::limit(Limit::Nesting, deepest, depth));
        }
        found.element(&node);
        let within = within || is_one_of(&node, SECTIONING);
        let beside = &mut found.beside;
        node.children.borrow_mut().retain(|child| {
            if is_hidden(child) {
                return false;
            }
            let is_beside = place == Place::Site && is_beside(child, within);
            if is_beside {
                *beside += amount(child).letters;
            }
            !is_beside
        });
        let children = node.children.borrow();
        open.extend(children.iter().rev().map(|child| (Rc::clone(child), depth + 1, within)));
    }
    if found.articles != 1 {
        found.article = None;
    }
    Ok(found)
}

impl Survey {
    /// The part that is the content of a page of such an amount; none where that is all of it.
    fn content(&self, whole: Amount) -> Option<Rc<Node>> {
        let holds = |part: &&Rc<Node>, share: u64, all: bool| {
            let own = amount(part);
            own.letters * 100 >= whole.letters * share && (!all || own.headings == whole.headings)
        };
        let main = self.main.as_ref().filter(|main| holds(main, MAIN, false));
        main.or_else(|| self.article.as_ref().filter(|article| holds(article, ARTICLE, true))).map(Rc::clone)
    }

    fn element(&mut self, node: &Rc<Node>) {
        let NodeData::Element { name, .. } = &node.data else { return };
        match &*name.local {
            "html" => self.language = attribute(node, "lang"),
            "title" if self.title.is_none() => self.title = Some(words(node)),
            "meta" => self.meta(node),
            "main" => self.main = self.main.take().or_else(|| Some(Rc::clone(node))),
            "body" => self.body = Some(Rc::clone(node)),
            "article" => {
                self.articles += 1;
                self.article = Some(Rc::clone(node));
            }
            _other => {
                if attribute(node, "role").as_deref() == Some("main") {
                    self.main = self.main.take().or_else(|| Some(Rc::clone(node)));
                }
            }
        }
    }

    fn meta(&mut self, node: &Rc<Node>) {
        let Some(name) = attribute(node, "name").or_else(|| attribute(node, "property")) else { return };
        let name = match name.to_ascii_lowercase().as_str() {
            "author" | "article:author" => "author",
            "description" => "description",
            "keywords" => "keywords",
            "date" | "article:published_time" | "dcterms.created" => "created",
            _other => return,
        };
        self.metadata.extend(attribute(node, "content").map(|content| (name, content)));
    }
}

fn attribute(node: &Rc<Node>, name: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    attrs
        .borrow()
        .iter()
        .find(|attribute| &*attribute.name.local == name)
        .map(|found| found.value.to_string())
}

/// Text directly inside an element.
fn words(node: &Rc<Node>) -> String {
    let mut words = String::new();
    for child in node.children.borrow().iter() {
        if let NodeData::Text { contents } = &child.data {
            words.push_str(&contents.borrow());
        }
    }
    words
}

/// Encoding that a `meta` element declares.
fn declared_charset(content: &[u8]) -> Option<String> {
    let head = content.get(..HEAD).unwrap_or(content);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let (_, rest) = head.split_once("charset=")?;
    let label: String = rest
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':'))
        .collect();
    (!label.is_empty()).then_some(label)
}

#[cfg(test)]
mod tests {
    use crate::error::{ExtractError, Limit};
    use crate::parse::tests::read;

    const PAGE: &str = r#"<!doctype html><html lang="de-AT"><head><title>Ein  Titel</title>
        <meta name="author" content="Jemand"><script>let x = "never";</script></head>
        <body><nav><a href="/">Home</a></nav><main><div role="navigation"><a href="/m">Menü</a></div><h1>Überschrift</h1><p>Ein <b>fetter</b> <a href="/x">Verweis</a>.</p>
        <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><ul><li>eins</li></ul></main>
        <footer>Impressum</footer><p hidden>Unseen</p></body></html>"#;

    #[test]
    fn the_main_content_becomes_markdown_and_what_surrounds_it_does_not() {
        let document = read("a.html", PAGE.as_bytes()).unwrap();
        assert_eq!(document.title.as_deref(), Some("Ein Titel"));
        assert_eq!(document.language.as_deref(), Some("de"));
        assert_eq!(document.metadata["author"], "Jemand");
        assert!(document.text.starts_with("# Überschrift\n"), "{}", document.text);
        assert!(document.text.contains("**fetter** [Verweis](/x)"), "{}", document.text);
        assert!(document.text.contains("| 1 | 2 |"), "{}", document.text);
        assert!(document.text.contains("- eins"), "{}", document.text);
        for absent in ["never", "Home", "Impressum", "Unseen", "Menü"] {
            assert!(!document.text.contains(absent), "{absent}");
        }
    }

    #[test]
    fn a_page_that_is_a_form_and_one_with_more_than_its_article_are_read_in_whole() {
        let form = "<body><form action=/><h1>Order</h1><fieldset><legend>Part</legend><label>Size</label>\
            <select><option>never</option></select></fieldset><p>Words of the page.</p><button>Send</button>\
            <textarea>never</textarea></form><aside>A note.</aside></body>";
        let text = read("a.html", form.as_bytes()).unwrap().text;
        for word in ["# Order", "Part", "Size", "Words of the page.", "Send", "A note."] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(!text.contains("never"), "{text}");
        let teaser = "<body><h1>Pumps</h1><p>All that is to be said of pumps.</p>\
            <article><h2>News</h2><p>A new pump.</p></article></body>";
        let text = read("a.html", teaser.as_bytes()).unwrap().text;
        assert!(text.contains("# Pumps") && text.contains("A new pump."), "{text}");
        let cited = "<body><main><blockquote>Words.<footer>Somebody said so</footer></blockquote></main>\
            <footer>Imprint</footer></body>";
        let text = read("a.html", cited.as_bytes()).unwrap().text;
        assert!(text.contains("Somebody said so") && !text.contains("Imprint"), "{text}");
    }

    #[test]
    fn a_page_of_which_most_was_left_out_says_so() {
        let menu = "<li>An entry of the menu</li>".repeat(30);
        let page = format!("<body><nav><ul>{menu}</ul></nav><main><p>Few words.</p></main></body>");
        let document = read("a.html", page.as_bytes()).unwrap();
        assert_eq!(document.text, "Few words.");
        assert_eq!(document.warnings.len(), 1, "{:?}", document.warnings);
        assert!(read("a.html", PAGE.as_bytes()).unwrap().warnings.is_empty());
    }

    #[test]
    fn a_page_in_another_encoding_is_read_by_what_it_declares() {
        let (bytes, _, _) = encoding_rs::ISO_8859_2.encode("<meta charset=iso-8859-2><p>Łódź żółw</p>");
        assert_eq!(read("a.html", &bytes).unwrap().text, "Łódź żółw");
    }

    #[test]
    fn a_page_of_elements_inside_each_other_ends_at_the_limit() {
        let page = format!("{}deep{}", "<div>".repeat(5_000), "</div>".repeat(5_000));
        let error = read("a.html", page.as_bytes()).unwrap_err();
        assert!(matches!(error, ExtractError::LimitExceeded { limit: Limit::Nesting, .. }), "{error}");
    }
}
