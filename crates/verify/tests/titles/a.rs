//! GitHub to Adyen, and the adopters of Standard Webhooks.

/// Provider, recognised provider, sample, type, whether the event has an id of its own, title.
pub(crate) const ROWS: &str = "\
github | github | push | push | id | hookmitt-demo/greenhouse main: Water the tomatoes twice on hot days
github | github | pull_request.opened | pull_request.opened | id | hookmitt-demo/greenhouse #42: Close the roof when it rains
github | github | release.published | release.published | id | hookmitt-demo/greenhouse v1.4.0: v1.4.0 – Tomatoes, twice a day
github | github | workflow_run.completed | workflow_run.completed | id | hookmitt-demo/greenhouse Tests: failure
github | github | issue_comment.created | issue_comment.created | id | hookmitt-demo/greenhouse #41: The roof stays open when it rains
github | github | ping | ping | id | hookmitt-demo/greenhouse: Keep it logically awesome.
github | github | issues.opened | issues.opened | id | hookmitt-demo/greenhouse #41: The roof stays open when it rains
gitlab | gitlab | push | push | id | hookmitt-demo/greenhouse main: Water the tomatoes twice on hot days
gitlab | gitlab | merge_request.open | merge_request.open | id | hookmitt-demo/greenhouse !42: Close the roof when it rains
gitlab | gitlab | pipeline | pipeline | id | hookmitt-demo/greenhouse main: failed
gitlab | gitlab | issue.open | issue.open | id | hookmitt-demo/greenhouse #41: The roof stays open when it rains
bitbucket | bitbucket | repo:push | repo:push | id | hookmitt-demo/greenhouse main: Water the tomatoes twice on hot days
bitbucket | bitbucket | pullrequest:created | pullrequest:created | id | hookmitt-demo/greenhouse #42: Close the roof when it rains
bitbucket | bitbucket | pullrequest:fulfilled | pullrequest:fulfilled | id | hookmitt-demo/greenhouse #42: Close the roof when it rains
gitea | gitea | push | push | id | zoe/greenhouse main: Water the tomatoes twice on hot days
gitea | gitea | issues.opened | issues.opened | id | zoe/greenhouse #41: The roof stays open when it rains
stripe | stripe | invoice.paid | invoice.paid | id | 49.00 EUR from zoe@example.com
stripe | stripe | checkout.session.completed | checkout.session.completed | id | 19.99 USD from zoe@example.com
stripe | stripe | customer.subscription.updated | customer.subscription.updated | id | 49.00 EUR a month: active
stripe | stripe | charge.refunded | charge.refunded | id | 19.99 EUR back to zoe@example.com
stripe | stripe | payment_intent.succeeded | payment_intent.succeeded | id | 19.99 USD: Order 1001
standardwebhooks | standardwebhooks | user.created | user.created | id | Zoë Ångström
standardwebhooks | standardwebhooks | order.shipped | order.shipped | id | Order 1001
standardwebhooks | standardwebhooks | invoice.paid | invoice.paid | id | 49.00 EUR from zoe@example.com
svix | svix | user.created | user.created | id | Zoë Ångström
svix | svix | message.sent | message.sent | id | The tomatoes look thirsty 🍅
svix | svix | invoice.paid | invoice.paid | id | 49.00 EUR from zoe@example.com
openai | standardwebhooks | response.completed | response.completed | id | resp_6743a1b2c3d4hookmitt0001
openai | standardwebhooks | realtime.call.incoming | realtime.call.incoming | id | rtc_hookmitt0001
openai | standardwebhooks | batch.completed | batch.completed | id | batch_6743a1b2c3d4hookmitt0001
anthropic | standardwebhooks | session.status_idled | session.status_idled | id | session_hookmitt0001
resend | svix | email.bounced | email.bounced | id | björn@example.com: Your tomatoes are ripe 🍅
resend | svix | email.delivered | email.delivered | id | zoe@example.com: Your tomatoes are ripe 🍅
resend | svix | email.sent | email.sent | id | zoe@example.com: Your tomatoes are ripe 🍅
clerk | svix | organizationMembership.created | organizationMembership.created | id | Hookmitt Demo: zoe@example.com
clerk | svix | user.created | user.created | id | zoe@example.com
clerk | svix | session.created | session.created | id | user_hookmitt0001
replicate | standardwebhooks | prediction.succeeded | prediction.succeeded | id | hookmitt-demo/tomato-counter: succeeded
polar | standardwebhooks | subscription.active | subscription.active | id | 49.00 EUR from zoe@example.com
polar | standardwebhooks | order.paid | order.paid | id | 49.00 EUR from zoe@example.com
liveblocks | standardwebhooks | commentCreated | commentCreated | id | greenhouse: cm_hookmitt0001
liveblocks | standardwebhooks | storageUpdated | storageUpdated | id | greenhouse
slack | slack | app_mention | app_mention | id | <@U0BOT> is the roof open?
slack | slack | reaction_added | reaction_added | id | :tomato: from U0ZOE
slack | slack | block_actions | block_actions | id | zoe: open_roof
slack | slack | slash_command | /roof | id | /roof open bed 3 & water it
slack | slack | url_verification | url_verification | no id | hookmitt-0197abc-1
slack | slack | message | message | id | The tomatoes look thirsty 🍅
shopify | shopify | orders/create | orders/create | id | #1001: 59.80 EUR from zoe@example.com
shopify | shopify | app/uninstalled | app/uninstalled | id | Hookmitt Demo
shopify | shopify | refunds/create | refunds/create | id | 29.90 EUR back for order 820982911946154500
shopify | shopify | customers/create | customers/create | id | Zoë Ångström <zoe@example.com>
shopify | shopify | products/update | products/update | id | Tomato seeds
twilio | twilio | message.received | message.received | id | +46701740605 → +46766861004: Is the roof open? Über Nacht kommt Frost ❄
twilio | twilio | message.delivered | message.delivered | id | +46766861004 → +46701740605
twilio | twilio | call.ringing | call.ringing | id | +46701740605 → +46766861004
sendgrid | sendgrid | delivered | delivered | id | zoe@example.com: 250 2.0.0 OK  1750000000 qt7si1203425wrc.123 - gsmtp
sendgrid | sendgrid | bounce | bounce | id | bjoern@example.com: 550 5.1.1 The account of Björn doesn't exist
sendgrid | sendgrid | open | open | id | zoe@example.com
sendgrid | sendgrid | click | click | id | zoe@example.com: https://example.com/tomatoes?bed=3&färg=röd
mailgun | mailgun | failed | failed | id | zoe@example.com: No such mailbox: zoë
mailgun | mailgun | delivered | delivered | id | zoe@example.com: OK
mailgun | mailgun | clicked | clicked | id | zoe@example.com: https://greenhouse.example.com/harvest?order=1001
postmark | postmark | Bounce | Bounce | id | bjoern@example.com: The server was unable to deliver your message (ex: unknown user, mailbox not found).
postmark | postmark | Delivery | Delivery | id | zoe@example.com: smtp;250 2.0.0 OK 1750000000 – välkommen
postmark | postmark | Open | Open | id | zoe@example.com
discord | discord | APPLICATION_AUTHORIZED | APPLICATION_AUTHORIZED | no id | zoe.angstrom in Växthuset
discord | discord | APPLICATION_COMMAND | APPLICATION_COMMAND | id | /water Bed 3 – tomatoes by zoe.angstrom
discord | discord | MESSAGE_COMPONENT | MESSAGE_COMPONENT | id | open_roof by zoe.angstrom
discord | discord | PING | PING | id | 1234560123453231555
discord | discord | ENTITLEMENT_CREATE | ENTITLEMENT_CREATE | id | 80351110224678912: 1234505980407808808
telegram | telegram | callback_query | callback_query | id | Zoë: roof:open
telegram | telegram | my_chat_member | my_chat_member | id | Zoë: kicked
telegram | telegram | channel_post | channel_post | id | Växthuset: 17 ripe tomatoes today 🍅🍅
telegram | telegram | message | message | id | Zoë: Is the roof open?
meta | meta | whatsapp_business_account.messages | whatsapp_business_account.messages | id | Zoë Ångström: Är taket öppet? 🍅
meta | meta | page.messages | page.messages | id | Are the tomatoes ripe, Zoë?
meta | meta | instagram.comments | instagram.comments | id | zoe.angstrom: Så fina tomater! 🍅
meta | meta | subscribe | subscribe | no id | 1158201444
meta | meta | page.leadgen | page.leadgen | id | lead 643710215880 of form 553912345678901
line | line | message | message | id | トマトは熟していますか？🍅
line | line | verify | verify | no id | U8e742f61d673b39c7fff3cecb7536ef0
line | line | follow | follow | id | U4af4980629f1d7c2b3a4958671605f4e
twitch | twitch | channel.follow | channel.follow | id | Zoë_Ångström → Greenhouse_TV
twitch | twitch | channel.cheer | channel.cheer | id | Zoë_Ångström → Greenhouse_TV: 1000 bits
twitch | twitch | webhook_callback_verification | webhook_callback_verification | id | channel.follow: webhook_callback_verification_pending
twitch | twitch | stream.online | stream.online | id | Greenhouse_TV
zoom | zoom | meeting.participant_joined | meeting.participant_joined | id | Växthuset: the week's harvest: Zoë Ångström
zoom | zoom | recording.completed | recording.completed | id | Växthuset: the week's harvest
zoom | zoom | endpoint.url_validation | endpoint.url_validation | id | hookmitt-0197abc-1
zoom | zoom | meeting.started | meeting.started | id | Växthuset: the week's harvest
paddle | paddle | subscription.activated | subscription.activated | id | Greenhouse Pro: active
paddle | paddle | transaction.completed | transaction.completed | id | 49.00 EUR for Greenhouse Pro, monthly
paddle | paddle | subscription.canceled | subscription.canceled | id | Greenhouse Pro: canceled
lemonsqueezy | lemonsqueezy | subscription_created | subscription_created | id | Greenhouse Pro: active (zoe@example.com)
lemonsqueezy | lemonsqueezy | order_created | order_created | id | €49.00 from zoe@example.com
lemonsqueezy | lemonsqueezy | subscription_payment_success | subscription_payment_success | id | €49.00 from zoe@example.com
paypal | paypal | PAYMENT.CAPTURE.COMPLETED | PAYMENT.CAPTURE.COMPLETED | id | 59.80 EUR: Växthuset, order 1001
paypal | paypal | CHECKOUT.ORDER.APPROVED | CHECKOUT.ORDER.APPROVED | id | 59.80 EUR from zoe@example.com
paypal | paypal | BILLING.SUBSCRIPTION.ACTIVATED | BILLING.SUBSCRIPTION.ACTIVATED | id | zoe@example.com: ACTIVE
paypal | paypal | PAYMENT.CAPTURE.REFUNDED | PAYMENT.CAPTURE.REFUNDED | id | 29.90 EUR
square | square | refund.created | refund.created | id | 6.20 EUR back: One kilo wasn't ripe – sorry!
square | square | order.updated | order.updated | id | OPEN: order 03O3USaPaAaFnI6kkwB1JxGgBsUZY
square | square | customer.created | customer.created | id | Zoë Ångström <zoe@example.com>
square | square | payment.updated | payment.updated | id | 12.40 EUR from zoe@example.com
adyen | adyen | AUTHORISATION | AUTHORISATION | id | 59.80 EUR for order-1001: Växthuset
adyen | adyen | CAPTURE | CAPTURE | id | 59.80 EUR for order-1001: Växthuset
adyen | adyen | CHARGEBACK | CHARGEBACK | id | 59.80 EUR for order-1001: Växthuset
adyen | adyen | REFUND | REFUND | id | 29.90 EUR for order-1001: Växthuset
";
