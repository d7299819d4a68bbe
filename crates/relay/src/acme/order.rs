//! Orders one certificate: uses the account, proves that the names are ours, and fetches the result.

use std::{sync::Arc, time::Duration};

use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Error, Identifier, NewAccount, NewOrder, Order, OrderStatus,
    RetryPolicy,
};
use url::Url;

use super::{
    challenge,
    failure::{OrderError, told},
    folder::{Folder, KeptAccount},
    http::Http,
};
use crate::certificates::{Answer, Certificates};

/// How often, and for how long, an authority is asked whether it has finished.
const PATIENCE: RetryPolicy =
    RetryPolicy::new().initial_delay(Duration::from_millis(250)).timeout(Duration::from_secs(120));

/// All that is needed to order a certificate from an authority.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) names: Vec<String>,
    pub(super) email: Option<String>,
    pub(super) directory: Url,
    pub(super) folder: Folder,
    pub(super) http: Http,
    pub(super) certificates: Arc<Certificates>,
}

impl Client {
    /// Orders a certificate. Returns its key and its chain as PEM.
    pub(super) async fn order(&self) -> Result<String, OrderError> {
        let account = account(self).await?;
        let names: Vec<_> = self.names.iter().cloned().map(Identifier::Dns).collect();
        let mut order =
            match account.new_order(&NewOrder::new(&names)).await.map_err(|error| self.failed(error)) {
                Err(OrderError::UnknownAccount) => {
                    self.folder.forget_account()?;
                    return Err(OrderError::UnknownAccount);
                }
                other => other?,
            };
        prove(self, &mut order).await?;
        let key = order.finalize().await.map_err(|error| self.failed(error))?;
        let chain = order.poll_certificate(&PATIENCE).await.map_err(|error| self.failed(error))?;
        Ok(format!("{key}{chain}"))
    }

    fn failed(&self, error: Error) -> OrderError {
        OrderError::of(error, self.directory.host_str().unwrap_or_default())
    }
}

/// Returns the stored account. If there is none, registers one and stores it before it is used.
async fn account(client: &Client) -> Result<Account, OrderError> {
    let builder = Account::builder_with_http(Box::new(client.http.clone()));
    let contact: Vec<_> = client.email.iter().map(|email| format!("mailto:{email}")).collect();
    let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
    if let Some(mut kept) = client.folder.account()? {
        let same = kept.email == client.email;
        if !same {
            kept.email.clone_from(&client.email);
            client.folder.keep_account(&kept)?;
        }
        let account =
            builder.from_credentials(kept.credentials).await.map_err(|error| client.failed(error))?;
        if !same {
            account.update_contacts(&contact).await.map_err(|error| client.failed(error))?;
        }
        return Ok(account);
    }
    let wanted = NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
    let made = builder.create(&wanted, client.directory.to_string(), None).await;
    let (account, credentials) = made.map_err(|error| client.failed(error))?;
    client.folder.keep_account(&KeptAccount { email: client.email.clone(), credentials })?;
    Ok(account)
}

/// Proves to the authority that the names are ours.
async fn prove(client: &Client, order: &mut Order) -> Result<(), OrderError> {
    let _answers = answer_all(client, order).await?;
    let refused = match order.poll_ready(&PATIENCE).await {
        Ok(OrderStatus::Ready) => return Ok(()),
        Ok(_) => OrderError::Refused("the order is invalid".to_owned()),
        Err(error @ Error::Api(_)) => client.failed(error),
        Err(error) => return Err(client.failed(error)),
    };
    Err(why_not(client, order).await.unwrap_or(refused))
}

/// Prepares the answer to every challenge, and tells the authority that it is ready.
async fn answer_all(client: &Client, order: &mut Order) -> Result<Vec<Answer>, OrderError> {
    let mut answers = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(found) = authorizations.next().await {
        let mut authorization = found.map_err(|error| client.failed(error))?;
        if authorization.status == AuthorizationStatus::Valid {
            continue; // proved a short while ago, and the authority remembers
        }
        let name = authorization.identifier().to_string();
        let no_challenge = || OrderError::NoChallenge(name.clone());
        let mut challenge = authorization.challenge(ChallengeType::TlsAlpn01).ok_or_else(no_challenge)?;
        let digest = challenge.key_authorization().digest();
        answers.push(answer(&client.certificates, &name, digest.as_ref())?);
        challenge.set_ready().await.map_err(|error| client.failed(error))?;
    }
    Ok(answers)
}

fn answer(certificates: &Arc<Certificates>, name: &str, digest: &[u8]) -> Result<Answer, OrderError> {
    let key = challenge::answer(name, digest)?;
    Ok(certificates.answer(name.to_ascii_lowercase(), key))
}

/// Returns what the authority says about the first name that it could not verify.
async fn why_not(client: &Client, order: &mut Order) -> Option<OrderError> {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let state = match authorization.refresh().await {
            Ok(state) => state,
            Err(error) => return Some(client.failed(error)),
        };
        if let Some(problem) = state.challenges.iter().find_map(|challenge| challenge.error.as_ref()) {
            return Some(OrderError::NotOurs { name: state.identifier().to_string(), why: told(problem) });
        }
    }
    None
}
