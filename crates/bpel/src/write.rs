//! Writes a process as WS-BPEL 2.0.

use super::EXTENSION_NS;
use super::context::Context;
use super::contract::{Contract, PAYLOAD_NS};
use super::expression::{Expr, Timer, XPATH};
use super::names::clean;
use super::tree::{
    Activity, Call, Copy, Fault, ForEach, From, On, Scope, Targets, To, Trigger, Variable, What,
};

const BPEL_NS: &str = "http://docs.oasis-open.org/wsbpel/2.0/process/executable";
const WSDL_NS: &str = "http://schemas.xmlsoap.org/wsdl/";
const XSD_NS: &str = "http://www.w3.org/2001/XMLSchema";

/// XML text with indentation.
#[derive(Debug, Default)]
pub(super) struct Xml {
    out: String,
    open: Vec<String>,
    /// Whether the start tag that was written last is still open.
    tag_open: bool,
}

impl Xml {
    pub(crate) fn new() -> Self {
        Self { out: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned(), ..Self::default() }
    }

    pub(crate) fn open(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.end_tag();
        self.indent();
        self.out.push('<');
        self.out.push_str(name);
        for (name, value) in attributes {
            self.attribute(name, value);
        }
        self.open.push(name.to_owned());
        self.tag_open = true;
    }

    pub(crate) fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        escape(&mut self.out, value, true);
        self.out.push('"');
    }

    pub(crate) fn close(&mut self) {
        let Some(name) = self.open.pop() else { return };
        if self.tag_open {
            self.out.push_str("/>\n");
            self.tag_open = false;
            return;
        }
        self.indent();
        self.out.push_str("</");
        self.out.push_str(&name);
        self.out.push_str(">\n");
    }

    pub(crate) fn leaf(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.open(name, attributes);
        self.close();
    }

    /// An element with text, on one line.
    pub(crate) fn text(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.open(name, attributes);
        self.out.push('>');
        self.tag_open = false;
        escape(&mut self.out, text, false);
        self.open.pop();
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push_str(">\n");
    }

    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn end_tag(&mut self) {
        if self.tag_open {
            self.out.push_str(">\n");
            self.tag_open = false;
        }
    }

    fn indent(&mut self) {
        // Deep nesting would otherwise cost more room than what is nested.
        for _ in 0..self.open.len().min(24) {
            self.out.push_str("  ");
        }
    }
}

/// Escapes text for XML 1.0; characters that XML cannot hold are left out.
fn escape(out: &mut String, text: &str, quoted: bool) {
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' if quoted => out.push_str("&quot;"),
            '\n' | '\t' if quoted => out.push_str(if letter == '\n' { "&#10;" } else { "&#9;" }),
            '\r' => out.push_str("&#13;"),
            '\n' | '\t' => out.push(letter),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            _ => out.push(letter),
        }
    }
}

/// The prefixes of the model, without those that the file itself declares.
pub(super) fn model_prefixes<'a>(contract: &'a Contract<'_>, taken: &[&str]) -> Vec<(String, &'a str)> {
    let usable = |prefix: &str, namespace: &str| {
        let reserved = prefix.get(..3).is_some_and(|head| head.eq_ignore_ascii_case("xml"));
        !prefix.is_empty()
            && !namespace.is_empty()
            && clean(prefix) == *prefix
            && !reserved
            && !taken.contains(&prefix)
            && namespace != "http://www.w3.org/XML/1998/namespace"
            && namespace != "http://www.w3.org/2000/xmlns/"
    };
    contract
        .namespaces
        .iter()
        .filter(|(prefix, namespace)| usable(prefix, namespace))
        .map(|(prefix, namespace)| (format!("xmlns:{prefix}"), namespace.as_str()))
        .collect()
}

/// The whole document.
pub(super) fn process(context: &Context, root: &Scope, name: &str) -> String {
    let contract = &context.contract;
    let mut writer = Writer { xml: Xml::new() };
    let target = contract.target_namespace.as_str();
    writer.xml.open("process", &[("name", name), ("targetNamespace", target)]);
    writer.xml.attribute("suppressJoinFailure", "yes");
    for (prefix, namespace) in
        [("xmlns", BPEL_NS), ("xmlns:hd", EXTENSION_NS), ("xmlns:own", target), ("xmlns:xsd", XSD_NS)]
    {
        writer.xml.attribute(prefix, namespace);
    }
    let mut taken = vec!["hd".to_owned(), "own".to_owned(), "xsd".to_owned()];
    for (at, (namespace, _)) in contract.imports.iter().enumerate() {
        writer.xml.attribute(&format!("xmlns:t{at}"), namespace);
        taken.push(format!("t{at}"));
    }
    let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
    for (prefix, namespace) in model_prefixes(contract, &taken) {
        writer.xml.attribute(&prefix, namespace);
    }
    if context.extended {
        writer.xml.open("extensions", &[]);
        writer.xml.leaf("extension", &[("namespace", EXTENSION_NS), ("mustUnderstand", "yes")]);
        writer.xml.close();
    }
    let file = format!("{name}.wsdl");
    writer.xml.leaf("import", &[("namespace", target), ("location", &file), ("importType", WSDL_NS)]);
    if contract.untyped {
        let file = format!("{name}.xsd");
        writer.xml.leaf("import", &[("namespace", PAYLOAD_NS), ("location", &file), ("importType", XSD_NS)]);
    }
    for (namespace, location) in &contract.imports {
        writer
            .xml
            .leaf("import", &[("namespace", namespace), ("location", location), ("importType", XSD_NS)]);
    }
    writer.partner_links(contract);
    writer.variables(&root.variables);
    writer.correlation_sets(contract);
    writer.handlers(root);
    writer.activity(&root.body);
    writer.xml.finish()
}

struct Writer {
    xml: Xml,
}

impl Writer {
    fn partner_links(&mut self, contract: &Contract) {
        if contract.partner_links.is_empty() {
            return;
        }
        self.xml.open("partnerLinks", &[]);
        for link in &contract.partner_links {
            let link_type = format!("own:{}", link.link_type);
            let role = if link.is_own { ("myRole", "process") } else { ("partnerRole", "partner") };
            self.xml.leaf("partnerLink", &[("name", &link.name), ("partnerLinkType", &link_type), role]);
        }
        self.xml.close();
    }

    fn variables(&mut self, variables: &[Variable]) {
        if variables.is_empty() {
            return;
        }
        self.xml.open("variables", &[]);
        for Variable { name, of: (attribute, value) } in variables {
            self.xml.leaf("variable", &[("name", name), (attribute, value)]);
        }
        self.xml.close();
    }

    fn correlation_sets(&mut self, contract: &Contract) {
        let mut any = false;
        for set in contract.correlations.used_sets() {
            if !any {
                self.xml.open("correlationSets", &[]);
                any = true;
            }
            let names: Vec<String> = set.properties.iter().map(|name| format!("own:{name}")).collect();
            self.xml.leaf("correlationSet", &[("name", &set.name), ("properties", &names.join(" "))]);
        }
        if any {
            self.xml.close();
        }
    }

    /// Fault, compensation and event handlers, in the order of the schema.
    fn handlers(&mut self, scope: &Scope) {
        if !scope.faults.is_empty() {
            self.xml.open("faultHandlers", &[]);
            for (fault, handler) in &scope.faults {
                if let Some(fault) = fault {
                    self.xml.open("catch", &[("faultName", &fault_name(fault))]);
                    self.activity(handler);
                    self.xml.close();
                }
            }
            if let Some((_, handler)) = scope.faults.iter().find(|(fault, _)| fault.is_none()) {
                self.xml.open("catchAll", &[]);
                self.activity(handler);
                self.xml.close();
            }
            self.xml.close();
        }
        if let Some(handler) = &scope.compensation {
            self.xml.open("compensationHandler", &[]);
            self.activity(handler);
            self.xml.close();
        }
        if !scope.events.is_empty() {
            self.xml.open("eventHandlers", &[]);
            for messages in [true, false] {
                for (trigger, handler) in &scope.events {
                    if matches!(trigger.on, On::Message(_)) == messages {
                        self.event(trigger, handler);
                    }
                }
            }
            self.xml.close();
        }
    }

    fn event(&mut self, trigger: &Trigger, handler: &Activity) {
        match &trigger.on {
            On::Message(call) => {
                self.call("onEvent", call);
                if call.output.is_some() {
                    self.xml.attribute("messageType", &format!("own:{}", call.message_type));
                }
                self.element(trigger.element.as_deref());
                self.correlations(call, false);
            }
            On::Alarm(timer) => {
                self.xml.open("onAlarm", &[]);
                self.element(trigger.element.as_deref());
                self.timer(timer);
            }
            On::Every(timer) => {
                self.xml.open("onAlarm", &[]);
                self.element(trigger.element.as_deref());
                let (Timer::For(expression) | Timer::Until(expression)) = timer;
                self.expression("repeatEvery", expression);
            }
        }
        self.activity(handler);
        self.xml.close();
    }

    fn element(&mut self, id: Option<&str>) {
        if let Some(id) = id {
            self.xml.attribute("hd:element", id);
        }
    }

    /// Opens the element of an activity with what every activity may carry.
    fn head(&mut self, name: &str, activity: &Activity) {
        self.xml.open(name, &[]);
        self.common(activity);
    }

    fn common(&mut self, activity: &Activity) {
        if !activity.name.is_empty() {
            self.xml.attribute("name", &activity.name);
        }
        self.element(activity.element.as_deref());
    }

    fn links(&mut self, activity: &Activity) {
        if let Some(Targets { links, join }) = &activity.targets {
            self.xml.open("targets", &[]);
            if let Some(join) = join {
                self.xml.text("joinCondition", &[], join);
            }
            for link in links {
                self.xml.leaf("target", &[("linkName", link)]);
            }
            self.xml.close();
        }
        if activity.sources.is_empty() {
            return;
        }
        self.xml.open("sources", &[]);
        for source in &activity.sources {
            self.xml.open("source", &[("linkName", &source.link)]);
            if let Some(condition) = &source.condition {
                self.expression("transitionCondition", condition);
            }
            self.xml.close();
        }
        self.xml.close();
    }

    fn expression(&mut self, name: &str, expression: &Expr) {
        if expression.language == XPATH {
            self.xml.text(name, &[], &expression.text);
        } else {
            self.xml.text(name, &[("expressionLanguage", &expression.language)], &expression.text);
        }
    }

    fn timer(&mut self, timer: &Timer) {
        match timer {
            Timer::For(expression) => self.expression("for", expression),
            Timer::Until(expression) => self.expression("until", expression),
        }
    }

    /// Opens an element of a message that is received.
    fn call(&mut self, name: &str, call: &Call) {
        self.xml.open(name, &[]);
        self.call_attributes(call);
        if let Some(variable) = &call.output {
            self.xml.attribute("variable", variable);
        }
    }

    fn call_attributes(&mut self, call: &Call) {
        self.xml.attribute("partnerLink", &call.partner_link);
        self.xml.attribute("portType", &format!("own:{}", call.port_type));
        self.xml.attribute("operation", &call.operation);
    }

    fn correlations(&mut self, call: &Call, is_invoke_with_answer: bool) {
        if call.correlations.is_empty() {
            return;
        }
        self.xml.open("correlations", &[]);
        for (set, initiate) in &call.correlations {
            self.xml.open("correlation", &[("set", set), ("initiate", initiate)]);
            if is_invoke_with_answer {
                self.xml.attribute("pattern", "request");
            }
            self.xml.close();
        }
        self.xml.close();
    }

    fn activity(&mut self, activity: &Activity) {
        match &activity.what {
            What::Sequence(_)
            | What::If(..)
            | What::While(..)
            | What::RepeatUntil(..)
            | What::Flow(..)
            | What::Pick(..)
            | What::ForEach(_)
            | What::Scope(_) => self.structured(activity),
            _ => self.basic(activity),
        }
        self.xml.close();
    }

    fn basic(&mut self, activity: &Activity) {
        match &activity.what {
            What::Exit => self.plain("exit", activity),
            What::Compensate => self.plain("compensate", activity),
            What::CompensateScope(target) => {
                self.head("compensateScope", activity);
                self.xml.attribute("target", target);
                self.links(activity);
            }
            What::Throw(fault) => {
                self.head("throw", activity);
                self.xml.attribute("faultName", &fault_name(fault));
                self.links(activity);
            }
            What::Wait(timer) => {
                self.plain("wait", activity);
                self.timer(timer);
            }
            What::Assign(copies) => {
                self.plain("assign", activity);
                for copy in copies {
                    self.copy(copy);
                }
            }
            What::Invoke(call) => {
                self.head("invoke", activity);
                self.call_attributes(call);
                if let Some(variable) = &call.input {
                    self.xml.attribute("inputVariable", variable);
                }
                if let Some(variable) = &call.output {
                    self.xml.attribute("outputVariable", variable);
                }
                self.links(activity);
                self.correlations(call, call.output.is_some());
            }
            What::Receive(call, create) => {
                self.call("receive", call);
                self.common(activity);
                if *create {
                    self.xml.attribute("createInstance", "yes");
                }
                self.links(activity);
                self.correlations(call, false);
            }
            What::Reply(call) => {
                self.head("reply", activity);
                self.call_attributes(call);
                if let Some(variable) = &call.input {
                    self.xml.attribute("variable", variable);
                }
                self.links(activity);
                self.correlations(call, false);
            }
            What::Extension(extension) => {
                self.xml.open("extensionActivity", &[]);
                self.head(&format!("hd:{}", extension.element), activity);
                for (name, value) in &extension.attributes {
                    self.xml.attribute(name, value);
                }
                self.links(activity);
                if !extension.text.is_empty() {
                    self.xml.text("hd:source", &[], &extension.text);
                }
                self.xml.close();
            }
            _ => self.plain("empty", activity),
        }
    }

    fn plain(&mut self, name: &str, activity: &Activity) {
        self.head(name, activity);
        self.links(activity);
    }

    fn copy(&mut self, copy: &Copy) {
        self.xml.open("copy", &[]);
        match &copy.from {
            From::Expr(expression) => self.expression("from", expression),
            from => {
                self.xml.open("from", &[]);
                self.xml.open("literal", &[]);
                if matches!(from, From::Payload) {
                    self.xml.leaf("any:payload", &[("xmlns:any", PAYLOAD_NS)]);
                }
                self.xml.close();
                self.xml.close();
            }
        }
        match &copy.to {
            To::Variable(name) => self.xml.leaf("to", &[("variable", name)]),
            To::Payload(name) => self.xml.leaf("to", &[("variable", name), ("part", "payload")]),
            To::Expr(expression) => self.expression("to", expression),
        }
        self.xml.close();
    }

    fn structured(&mut self, activity: &Activity) {
        match &activity.what {
            What::Sequence(list) => {
                self.plain("sequence", activity);
                list.iter().for_each(|one| self.activity(one));
            }
            What::If(branches, otherwise) => self.choice(activity, branches, otherwise.as_deref()),
            What::While(condition, body) => {
                self.plain("while", activity);
                self.expression("condition", condition);
                self.activity(body);
            }
            What::RepeatUntil(body, condition) => {
                self.plain("repeatUntil", activity);
                self.activity(body);
                self.expression("condition", condition);
            }
            What::Flow(links, list) => {
                self.plain("flow", activity);
                if !links.is_empty() {
                    self.xml.open("links", &[]);
                    links.iter().for_each(|link| self.xml.leaf("link", &[("name", link)]));
                    self.xml.close();
                }
                list.iter().for_each(|one| self.activity(one));
            }
            What::Pick(create, branches) => self.pick(activity, *create, branches),
            What::ForEach(each) => self.for_each(activity, each),
            What::Scope(scope) => {
                self.plain("scope", activity);
                self.variables(&scope.variables);
                self.handlers(scope);
                self.activity(&scope.body);
            }
            _ => {}
        }
    }

    fn choice(&mut self, activity: &Activity, branches: &[(Expr, Activity)], otherwise: Option<&Activity>) {
        self.plain("if", activity);
        for (at, (condition, body)) in branches.iter().enumerate() {
            if at > 0 {
                self.xml.open("elseif", &[]);
            }
            self.expression("condition", condition);
            self.activity(body);
            if at > 0 {
                self.xml.close();
            }
        }
        if let Some(otherwise) = otherwise {
            self.xml.open("else", &[]);
            self.activity(otherwise);
            self.xml.close();
        }
    }

    fn pick(&mut self, activity: &Activity, create: bool, branches: &[(Trigger, Activity)]) {
        self.head("pick", activity);
        if create {
            self.xml.attribute("createInstance", "yes");
        }
        self.links(activity);
        for (trigger, body) in branches {
            if let On::Message(call) = &trigger.on {
                self.call("onMessage", call);
                self.element(trigger.element.as_deref());
                self.correlations(call, false);
                self.activity(body);
                self.xml.close();
            }
        }
        for (trigger, body) in branches {
            if let On::Alarm(timer) | On::Every(timer) = &trigger.on {
                self.xml.open("onAlarm", &[]);
                self.element(trigger.element.as_deref());
                self.timer(timer);
                self.activity(body);
                self.xml.close();
            }
        }
    }

    fn for_each(&mut self, activity: &Activity, each: &ForEach) {
        self.head("forEach", activity);
        self.xml.attribute("counterName", &each.counter);
        self.xml.attribute("parallel", if each.parallel { "yes" } else { "no" });
        self.links(activity);
        self.expression("startCounterValue", &Expr::xpath("1"));
        self.expression("finalCounterValue", &each.last);
        if let Some(branches) = &each.branches {
            self.xml.open("completionCondition", &[]);
            self.expression("branches", branches);
            self.xml.close();
        }
        self.activity(&each.scope);
    }
}

fn fault_name(fault: &Fault) -> String {
    match fault {
        Fault::Error(name) => format!("own:{name}"),
        Fault::Own(name) => format!("hd:{name}"),
    }
}
