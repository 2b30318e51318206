/**
 * Texts that are loaded with the pages that need them: one file for each section. Texts that many pages share are in the
 * language's own file, which every page has.
 */
import type accounts from './en/accounts.json'
import type catalogue from './en/catalogue.json'
import type chains from './en/chains.json'
import type health from './en/health.json'
import type keys from './en/keys.json'
import type models from './en/models.json'
import type money from './en/money.json'
import type notices from './en/notices.json'
import type operate from './en/operate.json'
import type organisation from './en/organisation.json'
import type playground from './en/playground.json'
import type platform from './en/platform.json'
import type rules from './en/rules.json'
import type settings from './en/settings.json'
import type signIn from './en/signIn.json'
import type trust from './en/trust.json'
import type usage from './en/usage.json'
import type vendors from './en/vendors.json'
import type videos from './en/videos.json'
import type wallet from './en/wallet.json'

export interface SectionTexts {
  readonly catalogue: typeof catalogue
  readonly chains: typeof chains
  readonly vendors: typeof vendors
  readonly videos: typeof videos
  readonly money: typeof money
  readonly notices: typeof notices
  readonly platform: typeof platform
  readonly trust: typeof trust
  readonly operate: typeof operate
  readonly accounts: typeof accounts
  readonly health: typeof health
  readonly keys: typeof keys
  readonly models: typeof models
  readonly organisation: typeof organisation
  readonly playground: typeof playground
  readonly rules: typeof rules
  readonly settings: typeof settings
  readonly signIn: typeof signIn
  readonly usage: typeof usage
  readonly wallet: typeof wallet
}

export type Section = keyof SectionTexts

/** One line for each section. */
export const SECTIONS = {
  en: {
    catalogue: () => import('./en/catalogue.json'),
    chains: () => import('./en/chains.json'),
    vendors: () => import('./en/vendors.json'),
    videos: () => import('./en/videos.json'),
    money: () => import('./en/money.json'),
    notices: () => import('./en/notices.json'),
    platform: () => import('./en/platform.json'),
    trust: () => import('./en/trust.json'),
    operate: () => import('./en/operate.json'),
    accounts: () => import('./en/accounts.json'),
    health: () => import('./en/health.json'),
    keys: () => import('./en/keys.json'),
    models: () => import('./en/models.json'),
    organisation: () => import('./en/organisation.json'),
    playground: () => import('./en/playground.json'),
    rules: () => import('./en/rules.json'),
    settings: () => import('./en/settings.json'),
    signIn: () => import('./en/signIn.json'),
    usage: () => import('./en/usage.json'),
    wallet: () => import('./en/wallet.json'),
  },
  'zh-CN': {
    catalogue: () => import('./zh-CN/catalogue.json'),
    chains: () => import('./zh-CN/chains.json'),
    vendors: () => import('./zh-CN/vendors.json'),
    videos: () => import('./zh-CN/videos.json'),
    money: () => import('./zh-CN/money.json'),
    notices: () => import('./zh-CN/notices.json'),
    platform: () => import('./zh-CN/platform.json'),
    trust: () => import('./zh-CN/trust.json'),
    operate: () => import('./zh-CN/operate.json'),
    accounts: () => import('./zh-CN/accounts.json'),
    health: () => import('./zh-CN/health.json'),
    keys: () => import('./zh-CN/keys.json'),
    models: () => import('./zh-CN/models.json'),
    organisation: () => import('./zh-CN/organisation.json'),
    playground: () => import('./zh-CN/playground.json'),
    rules: () => import('./zh-CN/rules.json'),
    settings: () => import('./zh-CN/settings.json'),
    signIn: () => import('./zh-CN/signIn.json'),
    usage: () => import('./zh-CN/usage.json'),
    wallet: () => import('./zh-CN/wallet.json'),
  },
} as const satisfies Readonly<
  Record<string, Readonly<Record<Section, () => Promise<{ readonly default: object }>>>>
>
