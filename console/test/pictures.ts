import type { Page } from 'playwright-core'
import type { Look } from './chromium.ts'
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

interface DocumentPicture extends Picture {
  /** In `docs/pictures`, without its ending. */
  readonly file: string
  readonly look: Look
}

const LIGHT: Look = { theme: 'light', language: 'en', size: 'wide' }
const DARK: Look = { theme: 'dark', language: 'en', size: 'wide' }

/** What the documents show. */
export const DOCUMENT_PICTURES: readonly DocumentPicture[] = [
  { file: 'overview-light', look: LIGHT, ...named('overview') },
  { file: 'overview-dark', look: DARK, ...named('overview') },
  { file: 'call', look: LIGHT, name: 'call', path: '/calls', signedIn: true, prepare: openMovedCall },
  { file: 'chains', look: DARK, ...named('chains') },
  { file: 'phone', look: { theme: 'light', language: 'zh-CN', size: 'phone' }, ...named('overview') },
]

function named(name: string): Picture {
  const found = PICTURES.find((picture) => picture.name === name)
  if (found === undefined) throw new Error(`there is no picture ${name}`)
  return found
}

/** The newest call that went on to another chain. */
async function openMovedCall(page: Page): Promise<void> {
  const { origin } = new URL(page.url())
  const answer = await page.request.get(`${origin}/api/v1/user/user/logs?limit=100`)
  const { data } = (await answer.json()) as {
    readonly data: readonly { readonly request_id: string; readonly attempts: readonly unknown[] }[]
  }
  const moved = data.find(({ attempts }) => attempts.length > 1)
  if (moved === undefined) throw new Error('no call of the demonstration went on to another chain')
  await page.goto(`${origin}/console/calls?call=${moved.request_id}`)
  await page.getByRole('dialog').waitFor()
}

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
