//! Where the facts of a provider's events are.

use hookmitt_event::Request;
use serde::Deserialize;

use crate::{
    lookup::Lookup,
    place::PlaceError,
    pluck::Found,
    subject::{SubjectPlan, SubjectTemplates},
    template::Template,
};

/// The catalogue's lists of templates. In each list, the first template whose places all have a value wins.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FactTemplates {
    pub(crate) id: Vec<String>,
    #[serde(rename = "type")]
    pub(crate) kind: Vec<String>,
    pub(crate) time: Vec<String>,
    pub(crate) object: Vec<String>,
    pub(crate) form_json: Option<String>,
}

/// One provider's parsed templates, with the places that they read.
#[derive(Debug, Clone, Default)]
pub(crate) struct FactPlan {
    lookup: Lookup,
    pub(crate) id: Vec<Template>,
    pub(crate) kind: Vec<Template>,
    pub(crate) time: Vec<Template>,
    pub(crate) object: Vec<Template>,
    pub(crate) subject: SubjectPlan,
}

impl FactPlan {
    pub(crate) fn new(facts: &FactTemplates, subject: &SubjectTemplates) -> Result<Self, PlaceError> {
        let mut lookup = Lookup::new(facts.form_json.clone());
        Ok(Self {
            id: Template::parse_all(&facts.id, &mut lookup)?,
            kind: Template::parse_all(&facts.kind, &mut lookup)?,
            time: Template::parse_all(&facts.time, &mut lookup)?,
            object: Template::parse_all(&facts.object, &mut lookup)?,
            subject: SubjectPlan::new(subject, &mut lookup)?,
            lookup,
        })
    }

    /// Reads the values at all places of this request.
    pub(crate) fn gather(&self, request: &Request) -> Vec<Option<Found>> {
        self.lookup.gather(request)
    }
}
