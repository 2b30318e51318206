import type { Page } from 'playwright-core'

export interface Picture {
  readonly name: string
  /** Below `/console`. */
  readonly path: string
  readonly signedIn: boolean
  /** Whoever is signed in runs the gateway. */
  readonly operator?: boolean
  /** The whole page, not what fits the window. */
  readonly whole?: boolean
  /** What is done before the picture is taken. */
  prepare?(page: Page): Promise<void>
}
