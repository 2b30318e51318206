/** What a look at one thing that the gateway stands on found. */
export interface Finding {
  readonly check: string
  /** `warning`: it runs, and somebody should know. `skipped`: it could not be looked at. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly found: string
  /** What to do; undefined: nothing. */
  readonly fix: string | undefined
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found, fix: undefined }
}

export function warning(check: string, found: string, fix: string): Finding {
  return { check, state: 'warning', found, fix }
}

export function failed(check: string, found: string, fix: string): Finding {
  return { check, state: 'failed', found, fix }
}

export function skipped(check: string, found: string, fix?: string): Finding {
  return { check, state: 'skipped', found, fix }
}
