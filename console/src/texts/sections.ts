/**
 * Texts that come with the pages that need them: a file is a section of the texts, named like it. What several pages say
 * stands in the file of the language itself, which every page has.
 */
import type keys from './en/keys.json'
import type models from './en/models.json'
import type wallet from './en/wallet.json'

export interface SectionTexts {
  readonly keys: typeof keys
  readonly models: typeof models
  readonly wallet: typeof wallet
}

export type Section = keyof SectionTexts

/** One line a section. */
export const SECTIONS = {
  en: {
    keys: () => import('./en/keys.json'),
    models: () => import('./en/models.json'),
    wallet: () => import('./en/wallet.json'),
  },
  'zh-CN': {
    keys: () => import('./zh-CN/keys.json'),
    models: () => import('./zh-CN/models.json'),
    wallet: () => import('./zh-CN/wallet.json'),
  },
} as const satisfies Readonly<
  Record<string, Readonly<Record<Section, () => Promise<{ readonly default: object }>>>>
>
