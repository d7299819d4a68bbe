//! Razorpay to ElevenLabs.

/// Provider, recognised provider, sample, type, whether the event has an id of its own, title.
pub(crate) const ROWS: &str = "\
airtable | airtable | ping | ping | id | base appGr33nh0use01x7, webhook ach643710215880
asana | asana | task.added | task.added | no id | task 1211643710215880 in project 1209917634401125
asana | asana | task.changed | task.changed | no id | task 1211643710215880: due_on
asana | asana | story.added | story.added | no id | story 1211643710215880 in task 1211873460129944
aws_sns | aws_sns | Bounce | Bounce | id | bjoern@example.com: Permanent, Your tomatoes are ripe 🍅
aws_sns | aws_sns | Notification | Notification | id | ALARM: Frost in bed 3 in EU (Frankfurt)
aws_sns | aws_sns | SubscriptionConfirmation | SubscriptionConfirmation | id | greenhouse-alarms: You have chosen to subscribe to the topic arn:aws:sns:eu-central-1:123456789012:greenhouse-alarms.
aws_sns | aws_sns | UnsubscribeConfirmation | UnsubscribeConfirmation | id | greenhouse-alarms: You have chosen to deactivate a subscription of the topic arn:aws:sns:eu-central-1:123456789012:gree…
azure_eventgrid | azure_eventgrid | Microsoft.EventGrid.SubscriptionValidationEvent | Microsoft.EventGrid.SubscriptionValidationEvent | id | greenhousephotos
azure_eventgrid | azure_eventgrid | Microsoft.Storage.BlobCreated | Microsoft.Storage.BlobCreated | id | /blobServices/default/containers/photos/blobs/beet-3/märz.jpg
box | box | COMMENT.CREATED | COMMENT.CREATED | id | Gewächshaus Plan.pdf: Does this fit beside the rhubarb?
box | box | FILE.UPLOADED | FILE.UPLOADED | id | Gewächshaus Plan.pdf, by Zoë Ångström
braintree | braintree | dispute_opened | dispute_opened | id | 64.70 EUR: not_as_described
braintree | braintree | subscription_went_past_due | subscription_went_past_due | id | 49.00 for plan greenhouse_yearly: greenhouse-0197abc-1
calendly | calendly | invitee.canceled | invitee.canceled | id | Zoë Ångström: Plant clinic, 30 min
calendly | calendly | invitee.created | invitee.created | id | Zoë Ångström: Plant clinic, 30 min
calendly | calendly | routing_form_submission.created | routing_form_submission.created | id | Brown tomatoes since Tuesday
cloudevents | cloudevents | com.example.sensor.reading | com.example.sensor.reading | id | bed-3 from /greenhouse/sensors/7
cloudevents | cloudevents | com.example.valve.opened | com.example.valve.opened | id | bed-3 from /greenhouse/sensors/7
coinbase_commerce | coinbase_commerce | charge:confirmed | charge:confirmed | id | 49.00 EUR: Greenhouse membership
coinbase_commerce | coinbase_commerce | charge:created | charge:created | id | 49.00 EUR: Greenhouse membership
contentful | contentful | ContentManagement.Asset.publish | ContentManagement.Asset.publish | id | Bed 3 in March
contentful | contentful | ContentManagement.Entry.publish | ContentManagement.Entry.publish | id | Pruning tomatoes
datadog | datadog | query_alert_monitor | query_alert_monitor | id | [Triggered on {bed:3}] Frost in the greenhouse
docusign | docusign | envelope-completed | envelope-completed | id | Please sign: lease of greenhouse 7: completed
docusign | docusign | envelope-sent | envelope-sent | id | Please sign: lease of greenhouse 7: sent
docusign | docusign | recipient-completed | recipient-completed | id | Please sign: lease of greenhouse 7: completed
dropbox | dropbox | list_folder | list_folder | no id | account dbid:AAH4f99T0taONIb-643710215880
elevenlabs | elevenlabs | call_initiation_failure | call_initiation_failure | id | Pflanzenklinik für Zoë: conv_0197abc-1
elevenlabs | elevenlabs | post_call_transcription | post_call_transcription | id | Zoë asks about brown tomatoes and is told to water more evenly.
figma | figma | FILE_COMMENT | FILE_COMMENT | id | Greenhouse dashboard – Entwürfe: The leaf icon is too dark — can we try #2f9e44?
figma | figma | FILE_UPDATE | FILE_UPDATE | id | Greenhouse dashboard – Entwürfe
figma | figma | PING | PING | id | webhook 643710215880
fireflies | fireflies | meeting.summarized | meeting.summarized | id | Zoë's weekly planting call: meeting 0197abc-1
fireflies | fireflies | meeting.transcribed | meeting.transcribed | id | Zoë's weekly planting call: meeting 0197abc-1
gocardless | gocardless | mandates.cancelled | mandates.cancelled | id | mandate MD000MQ7ZJ5N8X: bank_account_closed
gocardless | gocardless | payments.confirmed | payments.confirmed | id | payment PM0042XQ7ZJ5N8: payment_confirmed
google_pubsub | google_pubsub | OBJECT_FINALIZE | OBJECT_FINALIZE | id | beet-3/märz.jpg in greenhouse-photos
google_pubsub | google_pubsub | harvest.weighed | harvest.weighed | id | 12.4 kg of tomatoes from bed 3
google_pubsub | google_pubsub | message | message | id | Zoë’s bed 3
hubspot | hubspot | contact.creation | contact.creation | id | contact 151723405
hubspot | hubspot | contact.propertyChange | contact.propertyChange | id | 151723405: firstname is Zoë
hubspot | hubspot | deal.propertyChange | deal.propertyChange | id | 19284756301: dealstage is closedwon
intercom | intercom | contact.user.created | contact.user.created | id | Zoë Ångström <zoe@example.com>
intercom | intercom | conversation.admin.replied | conversation.admin.replied | id | Zoë Ångström: Brown tomatoes
intercom | intercom | conversation.user.created | conversation.user.created | id | Zoë Ångström: Brown tomatoes
intercom | intercom | ping | ping | id | Webhook is working. Hello from Intercom.
linear | linear | Comment.create | Comment.create | id | GRN-217: Seen it too, on bed 3.
linear | linear | Issue.create | Issue.create | id | GRN-217: Watering starts twice after a restart
linear | linear | Issue.update | Issue.update | id | GRN-217: Watering starts twice after a restart
monday | monday | challenge | challenge | no id | 3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P
monday | monday | create_pulse | create_pulse | id | Repair valve 3 für Zoë
monday | monday | update_column_value | update_column_value | id | Order seeds – Möhren: Status is Done
mux | mux | video.asset.ready | video.asset.ready | id | Pruning tomatoes with Zoë
mux | mux | video.live_stream.active | video.live_stream.active | id | greenhouse camera
netlify | netlify | deploy_created | deploy_created | id | zoes-greenhouse: Blumenkästen: water bed 3 in the evening, too
netlify | netlify | deploy_failed | deploy_failed | id | zoes-greenhouse: Blumenkästen: water bed 3 in the evening, too
notion | notion | comment.created | comment.created | id | comment 15e104cd-477e-80ac-bb0a-001d0f9c2d77 in Zoë’s greenhouse
notion | notion | page.content_updated | page.content_updated | id | page 153104cd-477e-809d-8dc4-ff2d96ae3090 in Zoë’s greenhouse
notion | notion | page.created | page.created | id | page 153104cd-477e-809d-8dc4-ff2d96ae3090 in Zoë’s greenhouse
pagerduty | pagerduty | incident.acknowledged | incident.acknowledged | id | #217 Frost warning: 1 °C in bed 3
pagerduty | pagerduty | incident.resolved | incident.resolved | id | #217 Frost warning: 1 °C in bed 3
pagerduty | pagerduty | incident.triggered | incident.triggered | id | #217 Frost warning: 1 °C in bed 3
pagerduty | pagerduty | pagey.ping | pagey.ping | id | Hello from your friend Pagey!
plaid | plaid | ITEM.ERROR | ITEM.ERROR | no id | item wz666MBjYWTp2PDz643710215880: ITEM_LOGIN_REQUIRED
plaid | plaid | TRANSACTIONS.SYNC_UPDATES_AVAILABLE | TRANSACTIONS.SYNC_UPDATES_AVAILABLE | no id | item wz666MBjYWTp2PDz643710215880
razorpay | razorpay | payment.captured | payment.captured | id | 2499.00 INR from zoe@example.com
razorpay | razorpay | refund.processed | refund.processed | id | 499.00 INR back for pay_QmT4v9Wz8KcR2d
razorpay | razorpay | order.paid | order.paid | id | 2499.00 INR from zoe@example.com
sanity | sanity | post.create | post.create | id | Tomaten ausgeizen mit Zoë
sanity | sanity | post.update | post.update | id | Tomaten ausgeizen mit Zoë
sentry | sentry | event_alert.triggered | event_alert.triggered | id | ValveError: valve 3 doesn't answer
sentry | sentry | issue.created | issue.created | id | GREENHOUSE-4K: ValveError: valve 3 doesn't answer
sentry | sentry | issue.resolved | issue.resolved | id | GREENHOUSE-4K: ValveError: valve 3 doesn't answer
trello | trello | commentCard | commentCard | id | Order seeds – Möhren: Fifty bags are enough.
trello | trello | updateCard | updateCard | id | Order seeds – Möhren: To do → Done
trello | trello | createCard | createCard | id | Order seeds – Möhren in To do
typeform | typeform | form_response | form_response | id | How is your greenhouse?: Tomatoes, from Zoë’s seeds
typeform | typeform | form_response_partial | form_response_partial | id | How is your greenhouse?: Tomatoes, from Zoë’s seeds
typeform | typeform | form_response.payment | form_response | id | Order seeds: Möhren, early ones
vercel | vercel | deployment.created | deployment.created | id | greenhouse: Water bed 3 in the evening, too
vercel | vercel | deployment.error | deployment.error | id | greenhouse: Upgrade the valve driver
vercel | vercel | deployment.succeeded | deployment.succeeded | id | greenhouse: Water bed 3 in the evening, too
vercel | vercel | project.created | project.created | id | greenhouse
woocommerce | woocommerce | customer.created | customer.created | id | Zoë Ångström <zoe@example.com>
woocommerce | woocommerce | order.created | order.created | id | #643710215880: 64.70 EUR from Zoë Ångström
woocommerce | woocommerce | order.updated | order.updated | id | #643710215880: 64.70 EUR from Zoë Ångström
woocommerce | woocommerce | product.updated | product.updated | id | Tomato seeds – Ochsenherz: 29.90
workos | workos | dsync.group.user_added | dsync.group.user_added | id | zoe@example.com
workos | workos | user.created | user.created | id | Zoë Ångström <zoe@example.com>
xero | xero | INVOICE.UPDATE | INVOICE.UPDATE | id | 717f2bfc-c6d4-41fd-b238-3f2f0c0cf777 of tenant c2cc9b6e-9458-4c7d-93cc-f02b81b0594f
xero | xero | intent_to_receive | intent_to_receive | no id | VKJQZWCRTYXNMBDLHGFS
zendesk | zendesk | zen:event-type:ticket.created | zen:event-type:ticket.created | id | #5158: Brown tomatoes
zendesk | zendesk | zen:event-type:ticket.status_changed | zen:event-type:ticket.status_changed | id | #5158: Brown tomatoes
zendesk | zendesk | zen:event-type:user.created | zen:event-type:user.created | id | Zoë Ångström <zoe@example.com>
";
