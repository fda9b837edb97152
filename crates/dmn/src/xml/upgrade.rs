//! A document of any version in the namespaces of DMN 1.5, everything else as it stands.

use heddle_xml::{Document, El};

use super::{DMNDI_NS, FEEL_NS, MODEL_NS};

/// The namespace of DMN 1.5 for one of another version.
pub(super) fn namespace(uri: &str) -> Option<&'static str> {
    let rest = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://"))?;
    let rest = rest.strip_prefix("www.omg.org/spec/")?;
    if let Some(rest) = rest.strip_prefix("DMN/") {
        let kind = rest.get(8..)?.trim_matches('/');
        return match kind {
            "" | "dmn.xsd" | "dmn11.xsd" | "MODEL" => Some(MODEL_NS),
            "DMNDI" => Some(DMNDI_NS),
            "FEEL" => Some(FEEL_NS),
            _ => None,
        };
    }
    rest.starts_with("FEEL/").then_some(FEEL_NS)
}

/// Which of a document's namespaces, by their index, are those of models: the root's, and of whatever version, since the
/// document upgraded has one for all of them.
pub(super) fn of_models(document: &Document<'_>) -> Vec<bool> {
    let own = document.namespace(document.root());
    document.namespaces().map(|uri| uri == own || namespace(uri) == Some(MODEL_NS)).collect()
}

/// A type's name without the prefix that tells FEEL or the model itself; an import's prefix becomes its name.
fn type_name(document: &Document<'_>, el: El, text: &str) -> Option<String> {
    // With two colons it is no qualified name.
    let (prefix, local) = text.trim().split_once(':').filter(|(_, local)| !local.contains(':'))?;
    let root = document.root();
    let Some(uri) = document.bound(el, prefix) else { return (prefix == "feel").then(|| local.to_owned()) };
    if prefix == "feel"
        || uri.contains("FEEL")
        || document.attribute(root, "namespace").as_deref() == Some(uri)
    {
        return Some(local.to_owned());
    }
    let import = document.children(root).find(|child| {
        document.local(*child) == "import" && document.attribute(*child, "namespace").as_deref() == Some(uri)
    })?;
    let name =
        document.attribute(import, "name").map_or_else(|| prefix.to_owned(), std::borrow::Cow::into_owned);
    Some(format!("{name}.{local}"))
}

/// Elements whose content is text: elements within them are not looked into.
const TEXTS: [&str; 6] = ["text", "description", "question", "allowedAnswers", "type", "typeRef"];

/// The document's text in the namespaces of DMN 1.5, without its declaration.
pub(super) fn upgrade(document: &Document<'_>) -> String {
    let source = document.source;
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    let place = |raw: &str| raw.as_ptr() as usize - source.as_ptr() as usize;
    let models = of_models(document);
    let is_model = |el: El| models.get(document.part(el).ns.index()) == Some(&true);
    let mut left = vec![(document.root(), false)];
    while let Some((el, in_text)) = left.pop() {
        let mut replace = |raw: &str, old: &str, new: Option<String>| {
            if let Some(new) = new.filter(|new| new != old) {
                let mut escaped = String::new();
                heddle_xml::text::escape_attribute(&new, &mut escaped);
                edits.push((place(raw), place(raw) + raw.len(), escaped));
            }
        };
        for declaration in document.declarations(el) {
            let value = declaration.value();
            replace(declaration.raw, &value, namespace(&value).map(str::to_owned));
        }
        for attribute in document.attributes(el) {
            let value = attribute.value();
            let of_model = !attribute.is_qualified() && is_model(el);
            let new = match attribute.name {
                "expressionLanguage" | "typeLanguage" | "importType" if of_model => {
                    namespace(&value).map(str::to_owned)
                }
                "typeRef" | "outputTypeRef" if of_model => type_name(document, el, &value),
                _ => None,
            };
            replace(attribute.raw, &value, new);
        }
        let is_text = is_model(el) && TEXTS.contains(&document.local(el));
        if is_text && !in_text && document.local(el) == "typeRef" {
            let inner = document.inner(el);
            if let Some(new) = type_name(document, el, &document.text(el)) {
                let mut escaped = String::new();
                heddle_xml::text::escape_text(&new, &mut escaped);
                edits.push((place(inner), place(inner) + inner.len(), escaped));
            }
        }
        left.extend(document.children(el).map(|child| (child, in_text || is_text)));
    }
    edits.sort_by_key(|edit| edit.0);
    let mut out = String::with_capacity(source.len() + 64);
    let mut at = match source.trim_start_matches('\u{feff}').strip_prefix("<?xml ") {
        Some(rest) => rest.find("?>").map_or(0, |end| source.len() - rest.len() + end + 2),
        None => 0,
    };
    for (from, to, new) in edits {
        out.push_str(source.get(at..from).unwrap_or_default());
        out.push_str(&new);
        at = to;
    }
    out.push_str(source.get(at..).unwrap_or_default());
    out
}
