/** The one-colour logos that are free to use (Simple Icons, CC0), by their names there. */
const files = import.meta.glob<string>(
  '/node_modules/simple-icons/icons/{adyen,airtable,asana,bitbucket,box,braintree,calendly,clerk,coinbase,contentful,datadog,discord,dropbox,elevenlabs,figma,gitea,github,gitlab,hubspot,intercom,lemonsqueezy,line,linear,mailgun,meta,mux,netlify,notion,pagerduty,paypal,postmark,razorpay,resend,sanity,sentry,shopify,square,stripe,svix,telegram,trello,twitch,typeform,vercel,woocommerce,xero,zendesk,zoom}.svg',
  { query: '?raw', import: 'default', eager: true },
);

const drawings = new Map<string, string>();
for (const [path, svg] of Object.entries(files)) {
  const drawing = /<path d="([^"]+)"/.exec(svg)?.[1];
  if (drawing) drawings.set(path.replace(/^.*\/|\.svg$/g, ''), drawing);
}

/** Providers whose logo has another name. */
const named: Record<string, string> = { coinbase_commerce: 'coinbase' };

/** Returns the SVG path of a provider's logo in a 24 × 24 box, if there is a free logo. */
export function drawingOf(provider: string): string | undefined {
  return drawings.get(named[provider] ?? provider);
}

/** Letters for providers whose ids don't begin with them. */
const monograms: Record<string, string> = {
  standardwebhooks: 'Wh',
  aws_sns: 'SN',
  google_pubsub: 'PS',
  azure_eventgrid: 'EG',
  cloudevents: 'CE',
};

/** Returns two letters for a provider; `{}` if there is no provider. */
export function monogramOf(provider: string | null): string {
  if (!provider || provider === 'generic') return '{}';
  return monograms[provider] ?? provider.charAt(0).toUpperCase() + provider.charAt(1);
}
