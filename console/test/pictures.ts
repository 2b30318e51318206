import type { Page } from 'playwright-core'
import { OPERATOR_PICTURES } from './operator-pictures.ts'
import type { Picture } from './picture.ts'

export const PICTURES: readonly Picture[] = [
  ...OPERATOR_PICTURES,
  { name: 'sign-in', path: '/sign-in', signedIn: false },
  { name: 'register', path: '/register', signedIn: false },
  { name: 'overview', path: '/', signedIn: true },
  { name: 'overview-whole', path: '/', signedIn: true, whole: true },
  { name: 'keys', path: '/keys', signedIn: true },
  { name: 'calls', path: '/calls', signedIn: true },
  { name: 'call', path: '/calls', signedIn: true, prepare: openFirstCall },
  { name: 'models', path: '/models?compare=gpt-5,claude-opus-4.8', signedIn: true },
  { name: 'model', path: '/models?model=gpt-5', signedIn: true },
  { name: 'playground', path: '/playground?model=gpt-5', signedIn: true, prepare: sayHello },
  { name: 'usage', path: '/usage?period=7d', signedIn: true, whole: true },
  { name: 'settings', path: '/settings', signedIn: true },
  { name: 'settings-security', path: '/settings?tab=security', signedIn: true, whole: true },
  { name: 'settings-alerts', path: '/settings?tab=alerts', signedIn: true },
  { name: 'settings-identity', path: '/settings?tab=verification', signedIn: true },
  { name: 'organisation', path: '/organisation', signedIn: true },
  { name: 'wallet', path: '/wallet', signedIn: true, whole: true },
  { name: 'wallet-plan', path: '/wallet?open=plan', signedIn: true },
  { name: 'key-form', path: '/keys?key=new', signedIn: true, prepare: fillKeyForm },
]

async function fillKeyForm(page: Page): Promise<void> {
  const form = page.getByRole('dialog')
  // The word, not its field: that lies outside of what can be seen.
  await form.locator('label[for$="-own"]').click()
  await form
    .getByRole('button')
    .filter({ hasText: /limit|限额/ })
    .click()
}

async function sayHello(page: Page): Promise<void> {
  await page.locator('textarea').fill('Which of our regions was slowest yesterday?')
  await page.keyboard.press('Control+Enter')
  await page.locator('a[href*="call="]').waitFor()
}

async function openFirstCall(page: Page): Promise<void> {
  await page.locator('tbody tr').first().click()
  await page.getByRole('dialog').waitFor()
}
