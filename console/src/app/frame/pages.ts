/** The pages for users, in the order of the left bar. */
import type { IconName } from '../../parts/marks/icon.tsx'

export const PAGES = [
  { to: '/', icon: 'overview', name: 'overview' },
  { to: '/keys', icon: 'key', name: 'keys' },
  { to: '/calls', icon: 'calls', name: 'calls' },
  { to: '/usage', icon: 'usage', name: 'usage' },
  { to: '/models', icon: 'models', name: 'models' },
  { to: '/playground', icon: 'play', name: 'playground' },
  { to: '/wallet', icon: 'wallet', name: 'wallet' },
  { to: '/organisation', icon: 'organisation', name: 'organisation' },
  { to: '/settings', icon: 'settings', name: 'settings' },
] as const satisfies readonly {
  readonly to: string
  readonly icon: IconName
  readonly name: string
}[]

/** The number of pages in the bottom bar on a phone; the rest are in its menu. */
export const PAGES_AT_HAND = 4
