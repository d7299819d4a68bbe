//! Settings of the source, and parts of the signed content, that differ from the sender's.

use crate::{
    place::Place,
    provider::Param,
    request_view::RequestView,
    scheme::{Scheme, Special},
    signature::Signed,
};

use super::{finding::Finding, trial::Trial};

/// Tries known mistakes in settings and in the signed content, and returns the first with which the signature matches.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    trial.first(signed, &[swapped, simulator, checksum_in_hex])
}

/// Finds keys that were configured in the wrong order, for a provider with one key per signature header (Box).
fn swapped(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let sender = trial.sender;
    (signed.scheme.every && trial.fits(signed.scheme, signed.parts.view)).then(|| {
        Finding::proven("wrong_configuration", "The configured keys fit in another order")
            .titled("Keys in wrong order")
            .saying(
                format!("A configured key fits, but {sender} uses it for the other signature header."),
                format!("Enter the keys in {sender}'s order: the primary one first."),
            )
            .sentence("the configured keys are in the wrong order")
            .fitting("With the keys in the right order")
    })
}

/// PayPal's simulator signs with the name of the setting instead of its value.
/// <https://developer.paypal.com/api/rest/webhooks/simulator/>
fn simulator(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let names: Vec<&String> = signed
        .scheme
        .content
        .places()
        .filter_map(|place| if let Place::Param(name) = place { Some(name) } else { None })
        .collect();
    let sender = trial.sender;
    for name in names {
        let literal = name.to_ascii_uppercase();
        let params: Vec<_> = signed
            .parts
            .view
            .params
            .iter()
            .filter(|(known, _)| known != name)
            .cloned()
            .chain([(name.clone(), literal.clone())])
            .collect();
        if trial.fits(signed.scheme, RequestView { params: &params, ..signed.parts.view }) {
            return Some(
                Finding::proven("wrong_configuration", format!("It verifies with {literal} as {name}"))
                    .titled("Sent by the simulator")
                    .saying(
                        format!("{sender}'s simulator sent this: it signs with the text {literal} instead of a {name}."),
                        format!("Your handler is fine: {sender}'s real events contain the configured {name}."),
                    )
                    .sentence(format!("signed with the literal {literal}, as {sender}'s simulator does"))
                    .detail("Send a real event, such as a payment in the sandbox, to test the signature.")
                    .fitting(format!("With {literal}")),
            );
        }
    }
    None
}

/// Returns the first setting that is signed but not part of the request, with its configured value.
pub(crate) fn signed_param<'v>(trial: &Trial<'_>, signed: &Signed<'v>) -> Option<(&'static Param, &'v str)> {
    let provider = trial.inquiry.provider?;
    signed.scheme.content.places().find_map(|place| {
        let Place::Param(name) = place else { return None };
        let param = provider.params.iter().find(|param| param.name == *name)?;
        Some((param, signed.parts.view.param(name)?))
    })
}

/// Finds a setting with an impossible value, so that something else must have been copied.
pub(crate) fn misshapen(trial: &Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let (param, given) = signed_param(trial, signed)?;
    let length = param.length.filter(|_| param.is_misshapen(given))?;
    let (sender, label) = (trial.sender, &param.label);
    let evidence = format!(
        "It has {} characters; a {label} is {length} capital letters and digits",
        given.chars().count()
    );
    Some(
        Finding::likely("wrong_configuration", evidence)
            .titled(format!("{label} is wrong"))
            .saying(
                format!("The configured {label} is also signed, and it can't be one of {sender}'s."),
                format!("Copy the {label} again: it is {}.", param.hint),
            )
            .sentence(format!("the configured {label} can’t be one of {sender}’s")),
    )
}

fn checksum_in_hex(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let content = signed.scheme.content.with_hex_checksum()?;
    let scheme = Scheme { content, ..signed.scheme.clone() };
    let sender = trial.sender;
    trial.fits(&scheme, signed.parts.view).then(|| {
        Finding::proven("signature_encoding", "It verifies with the CRC-32 in hex")
            .titled("Checksum in hex")
            .saying(
                format!(
                    "The signed text contains the body's CRC-32 in hex; {sender} writes it as a decimal number."
                ),
                "Write the CRC-32 as an unsigned decimal number.",
            )
            .sentence("the checksum in the signed text is in hex, not decimal")
            .fitting("With the checksum in hex")
    })
}

/// Braintree names the key of each signature. Finds requests in which none of these is the configured key.
pub(crate) fn stranger(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let own = signed.parts.view.param("public_key_id")?;
    if signed.scheme.special != Some(Special::Braintree) || signed.accepted().next().is_some() {
        return None;
    }
    let fits = trial.fits(signed.scheme, RequestView { params: &[], ..signed.parts.view });
    let raw = String::from_utf8_lossy(signed.raw());
    if !raw.contains('|') {
        return None;
    }
    let evidence = if fits {
        "Its signature matches under another key's name"
    } else {
        "No pair contains the configured key"
    };
    Some(Finding::proven("untrusted_key", evidence).saying(
        format!("There is no signature for the configured public key {own}."),
        "Compare the public key with that of the sending account and environment (sandbox or production).",
    ))
}
