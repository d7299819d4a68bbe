/** The one-colour drawings that are free to use (Simple Icons, CC0), by their name there. */
const files = import.meta.glob<string>(
  '/node_modules/simple-icons/icons/{adyen,airtable,asana,bitbucket,box,braintree,calendly,clerk,coinbase,contentful,datadog,discord,dropbox,elevenlabs,figma,gitea,github,gitlab,hubspot,intercom,lemonsqueezy,line,linear,mailgun,meta,mux,netlify,notion,pagerduty,paypal,postmark,razorpay,resend,sanity,sentry,shopify,square,stripe,svix,telegram,trello,twitch,typeform,vercel,woocommerce,xero,zendesk,zoom}.svg',
  { query: '?raw', import: 'default', eager: true },
);

const drawings = new Map<string, string>();
for (const [path, svg] of Object.entries(files)) {
  const drawing = /<path d="([^"]+)"/.exec(svg)?.[1];
  if (drawing) drawings.set(path.replace(/^.*\/|\.svg$/g, ''), drawing);
}

/** Providers whose drawing has another name. */
const named: Record<string, string> = { coinbase_commerce: 'coinbase' };

/** The path of a provider's drawing in a box of 24, where there is a free one. */
export function drawingOf(provider: string): string | undefined {
  return drawings.get(named[provider] ?? provider);
}

/** Names that their ids don't give. */
const monograms: Record<string, string> = {
  standardwebhooks: 'Wh',
  aws_sns: 'SN',
  google_pubsub: 'PS',
  azure_eventgrid: 'EG',
  cloudevents: 'CE',
};

/** Two letters that stand for a provider; `{}` for none. */
export function monogramOf(provider: string | null): string {
  if (!provider || provider === 'generic') return '{}';
  return monograms[provider] ?? provider.charAt(0).toUpperCase() + provider.charAt(1);
}
