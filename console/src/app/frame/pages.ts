/** The pages there are, in the order of the left bar. */
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

/** What the phone's bottom bar has room for; the rest is behind its menu. */
export const PAGES_AT_HAND = 4
