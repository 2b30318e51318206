import type { z } from 'zod'
import type { Chain } from '../../../../../core/catalogue.ts'
import type { Probe } from '../../../../../pipeline/explain/probe.ts'
import type { probeShape } from '../shapes.ts'

export function viewProbe(chain: Pick<Chain, 'id'>, probe: Probe): z.output<typeof probeShape> {
  const chain_id = chain.id
  switch (probe.kind) {
    case 'answered':
      return {
        ok: true,
        chain_id,
        status: probe.status,
        outcome: 'answered',
        message: null,
        duration_ms: probe.durationMs,
      }
    case 'refused':
      return {
        ok: false,
        chain_id,
        status: probe.status,
        outcome: probe.class,
        message: probe.message,
        duration_ms: probe.durationMs,
      }
    case 'unreachable':
      return {
        ok: false,
        chain_id,
        status: null,
        outcome: 'unreachable',
        message: probe.detail,
        duration_ms: probe.durationMs,
      }
    case 'not-testable':
      return {
        ok: false,
        chain_id,
        status: null,
        outcome: 'not-testable',
        message: probe.why,
        duration_ms: null,
      }
  }
}
