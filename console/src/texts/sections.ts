/**
 * Texts that come with the pages that need them: a file is a section of the texts, named like it. What several pages say
 * stands in the file of the language itself, which every page has.
 */
import type operate from './en/operate.json'
import type accounts from './en/accounts.json'
import type keys from './en/keys.json'
import type models from './en/models.json'
import type wallet from './en/wallet.json'

export interface SectionTexts {
  readonly operate: typeof operate
  readonly accounts: typeof accounts
  readonly keys: typeof keys
  readonly models: typeof models
  readonly wallet: typeof wallet
}

export type Section = keyof SectionTexts

/** One line a section. */
export const SECTIONS = {
  en: {
    operate: () => import('./en/operate.json'),
    accounts: () => import('./en/accounts.json'),
    keys: () => import('./en/keys.json'),
    models: () => import('./en/models.json'),
    wallet: () => import('./en/wallet.json'),
  },
  'zh-CN': {
    operate: () => import('./zh-CN/operate.json'),
    accounts: () => import('./zh-CN/accounts.json'),
    keys: () => import('./zh-CN/keys.json'),
    models: () => import('./zh-CN/models.json'),
    wallet: () => import('./zh-CN/wallet.json'),
  },
} as const satisfies Readonly<
  Record<string, Readonly<Record<Section, () => Promise<{ readonly default: object }>>>>
>
