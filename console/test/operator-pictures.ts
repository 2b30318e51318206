/** The pages of those who run the gateway. */
import type { Page } from 'playwright-core'
import type { Picture } from './picture.ts'

export const OPERATOR_PICTURES: readonly Picture[] = [
  { name: 'health', path: '/operate/health', whole: true },
  { name: 'operator-models', path: '/operate/models' },
  { name: 'operator-model', path: '/operate/models?open=gpt-5' },
  { name: 'operator-calls', path: '/operate/calls' },
  { name: 'operator-keys', path: '/operate/keys' },
  { name: 'operator-usage', path: '/operate/usage?period=7d', whole: true },
  { name: 'money', path: '/operate/money', whole: true },
  { name: 'codes', path: '/operate/money?tab=codes' },
  { name: 'plans', path: '/operate/money?tab=plans' },
  { name: 'presets', path: '/operate/models?tab=presets' },
  { name: 'accounts', path: '/operate/accounts' },
  { name: 'vendors', path: '/operate/vendors' },
  { name: 'vendor', path: '/operate/vendors?open=anthropic' },
  { name: 'videos', path: '/operate/videos?tab=all' },
  { name: 'announcements', path: '/operate/announcements' },
  { name: 'platform', path: '/operate/settings', whole: true },
  { name: 'groups', path: '/operate/settings?tab=groups&open=claude-code' },
  { name: 'gateway-file', path: '/operate/settings?tab=file' },
  { name: 'trust', path: '/operate/trust' },
  { name: 'chains', path: '/operate/chains' },
  { name: 'account', path: '/operate/accounts', prepare: openCustomer },
].map((picture) => ({ ...picture, signedIn: true, operator: true }))

async function openCustomer(page: Page): Promise<void> {
  await page.getByText('Ann Lindqvist').click()
  await page.getByRole('dialog').waitFor()
}
