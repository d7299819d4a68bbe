//! The connectors that come with this version.

use std::sync::{Arc, LazyLock};

use crate::connector::Connector;

const FILES: [(&str, &str); 24] = [
    ("coinbase_commerce", include_str!("../connectors/coinbase_commerce.toml")),
    ("contentful", include_str!("../connectors/contentful.toml")),
    ("figma", include_str!("../connectors/figma.toml")),
    ("fireflies", include_str!("../connectors/fireflies.toml")),
    ("github", include_str!("../connectors/github.toml")),
    ("gitlab", include_str!("../connectors/gitlab.toml")),
    ("gocardless", include_str!("../connectors/gocardless.toml")),
    ("hubspot", include_str!("../connectors/hubspot.toml")),
    ("mailgun", include_str!("../connectors/mailgun.toml")),
    ("mux", include_str!("../connectors/mux.toml")),
    ("paddle", include_str!("../connectors/paddle.toml")),
    ("paypal", include_str!("../connectors/paypal.toml")),
    ("polar", include_str!("../connectors/polar.toml")),
    ("postmark", include_str!("../connectors/postmark.toml")),
    ("resend", include_str!("../connectors/resend.toml")),
    ("sendgrid", include_str!("../connectors/sendgrid.toml")),
    ("shopify", include_str!("../connectors/shopify.toml")),
    ("slack", include_str!("../connectors/slack.toml")),
    ("square", include_str!("../connectors/square.toml")),
    ("stripe", include_str!("../connectors/stripe.toml")),
    ("svix", include_str!("../connectors/svix.toml")),
    ("twilio", include_str!("../connectors/twilio.toml")),
    ("typeform", include_str!("../connectors/typeform.toml")),
    ("workos", include_str!("../connectors/workos.toml")),
];

static CONNECTORS: LazyLock<Vec<Arc<Connector>>> = LazyLock::new(|| {
    FILES.iter().map(|(id, text)| Arc::new(read(id, text).expect("a test reads them"))).collect()
});

fn read(id: &str, text: &str) -> Result<Connector, toml::de::Error> {
    Ok(Connector { id: id.to_owned(), ..toml::from_str(text)? })
}

/// Returns the connector of the provider with that catalogue id.
pub fn connector(id: &str) -> Option<&'static Arc<Connector>> {
    CONNECTORS.iter().find(|connector| connector.id == id)
}

/// Returns the text of that connector's file, as a model for one of a user's own.
pub fn preset(id: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == id).map(|(_, text)| *text)
}

/// Iterates over all connectors.
pub fn connectors() -> impl Iterator<Item = &'static Arc<Connector>> {
    CONNECTORS.iter()
}
