//! One order: who we are, that the names are ours, and what comes of it.

use std::{sync::Arc, time::Duration};

use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Error, Identifier, NewAccount, NewOrder, Order, OrderStatus,
    RetryPolicy,
};

use super::{
    challenge,
    desk::Desk,
    failure::{OrderError, told},
    folder::KeptAccount,
};
use crate::certificates::{Answer, Certificates};

/// How often, and how long, an authority is asked whether it is done.
const PATIENCE: RetryPolicy =
    RetryPolicy::new().initial_delay(Duration::from_millis(250)).timeout(Duration::from_secs(120));

/// Orders a certificate; what comes is its key and its chain, as PEM.
pub(super) async fn order(desk: &Desk) -> Result<String, OrderError> {
    let account = account(desk).await?;
    let names: Vec<_> = desk.names.iter().cloned().map(Identifier::Dns).collect();
    let mut order = match account.new_order(&NewOrder::new(&names)).await.map_err(|error| desk.failed(error))
    {
        Err(OrderError::UnknownAccount) => {
            desk.folder.forget_account()?;
            return Err(OrderError::UnknownAccount);
        }
        other => other?,
    };
    prove(desk, &mut order).await?;
    let key = order.finalize().await.map_err(|error| desk.failed(error))?;
    let chain = order.poll_certificate(&PATIENCE).await.map_err(|error| desk.failed(error))?;
    Ok(format!("{key}{chain}"))
}

/// The account that was kept, else a fresh one, which is kept before it is used.
async fn account(desk: &Desk) -> Result<Account, OrderError> {
    let builder = Account::builder_with_http(Box::new(desk.http.clone()));
    let contact: Vec<_> = desk.email.iter().map(|email| format!("mailto:{email}")).collect();
    let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
    if let Some(mut kept) = desk.folder.account()? {
        let same = kept.email == desk.email;
        if !same {
            kept.email.clone_from(&desk.email);
            desk.folder.keep_account(&kept)?;
        }
        let account = builder.from_credentials(kept.credentials).await.map_err(|error| desk.failed(error))?;
        if !same {
            account.update_contacts(&contact).await.map_err(|error| desk.failed(error))?;
        }
        return Ok(account);
    }
    let wanted = NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
    let made = builder.create(&wanted, desk.directory.to_string(), None).await;
    let (account, credentials) = made.map_err(|error| desk.failed(error))?;
    desk.folder.keep_account(&KeptAccount { email: desk.email.clone(), credentials })?;
    Ok(account)
}

/// Shows the authority that the names are ours.
async fn prove(desk: &Desk, order: &mut Order) -> Result<(), OrderError> {
    let _answers = answer_all(desk, order).await?;
    let refused = match order.poll_ready(&PATIENCE).await {
        Ok(OrderStatus::Ready) => return Ok(()),
        Ok(_) => OrderError::Refused("the order is invalid".to_owned()),
        Err(error @ Error::Api(_)) => desk.failed(error),
        Err(error) => return Err(desk.failed(error)),
    };
    Err(why_not(desk, order).await.unwrap_or(refused))
}

/// Answers every challenge, and says that the answers are there.
async fn answer_all(desk: &Desk, order: &mut Order) -> Result<Vec<Answer>, OrderError> {
    let mut answers = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(found) = authorizations.next().await {
        let mut authorization = found.map_err(|error| desk.failed(error))?;
        if authorization.status == AuthorizationStatus::Valid {
            continue; // shown a short while ago, and not forgotten
        }
        let name = authorization.identifier().to_string();
        let no_challenge = || OrderError::NoChallenge(name.clone());
        let mut challenge = authorization.challenge(ChallengeType::TlsAlpn01).ok_or_else(no_challenge)?;
        let digest = challenge.key_authorization().digest();
        answers.push(answer(&desk.certificates, &name, digest.as_ref())?);
        challenge.set_ready().await.map_err(|error| desk.failed(error))?;
    }
    Ok(answers)
}

fn answer(certificates: &Arc<Certificates>, name: &str, digest: &[u8]) -> Result<Answer, OrderError> {
    let key = challenge::answer(name, digest)?;
    Ok(certificates.answer(name.to_ascii_lowercase(), key))
}

/// What the authority says of the first name that it could not make sure of.
async fn why_not(desk: &Desk, order: &mut Order) -> Option<OrderError> {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let state = match authorization.refresh().await {
            Ok(state) => state,
            Err(error) => return Some(desk.failed(error)),
        };
        if let Some(problem) = state.challenges.iter().find_map(|challenge| challenge.error.as_ref()) {
            return Some(OrderError::NotOurs { name: state.identifier().to_string(), why: told(problem) });
        }
    }
    None
}
