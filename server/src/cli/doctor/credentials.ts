/** Tests every enabled credential by one real, cheap call over a chain that uses it. */
import type { Catalogue, Credential } from '../../core/catalogue.ts'
import { usableChains } from '../../core/routing/order.ts'
import type { Probe } from '../../pipeline/explain/probe.ts'
import { probeAll } from '../commands/catalogue/chains.ts'
import type { Console } from '../console.ts'
import { chainsOf, type PlacedChain } from '../commands/catalogue/find-chain.ts'
import { failed, type Finding, ok, skipped, warning } from '../../core/finding.ts'

export async function checkCredentials(io: Console, catalogue: Catalogue): Promise<readonly Finding[]> {
  const credentials = [...catalogue.credentials.values()].filter(
    ({ status, vendorCode }) =>
      status === 'enabled' && catalogue.vendors.get(vendorCode)?.status === 'enabled',
  )
  const findings: Finding[] = []
  for (const credential of credentials) findings.push(await checkCredential(io, catalogue, credential))
  if (findings.length === 0)
    findings.push(
      warning('credentials', 'none is switched on', 'give a vendor a credential: no call can be made'),
    )
  return findings
}

async function checkCredential(io: Console, catalogue: Catalogue, credential: Credential): Promise<Finding> {
  const check = `credential ${credential.vendorCode}/${credential.name}`
  const chains = chainsOf(catalogue).filter(
    ({ model, chain }) =>
      chain.credentialId === credential.id && usableChains(model, catalogue).includes(chain),
  )
  const target = chains.find(({ chain }) => chain.protocol !== 'video')
  if (target === undefined) {
    const why = chains.length === 0 ? 'no chain uses it' : 'only videos use it, and every one is billed'
    return skipped(check, why)
  }
  const [probed] = await probeAll(io, catalogue, [target])
  if (probed === undefined) return skipped(check, 'was not asked')
  // Some vendors need none: the sandbox, and servers on the operator's own machine.
  if (probed.probe.kind !== 'answered' && isBare(credential))
    return failed(check, 'has no secret', 'give it one in the gateway file: sluice apply -f')
  return judgeProbe(check, target, probed.probe)
}

const isBare = ({ secret: { secret, fields } }: Credential): boolean =>
  secret === undefined && Object.keys(fields).length === 0

function judgeProbe(check: string, { model, chain }: PlacedChain, probe: Probe): Finding {
  const over = `${model.modelId} over chain ${chain.id}`
  switch (probe.kind) {
    case 'answered':
      return ok(check, `${over} answered in ${probe.durationMs} ms`)
    case 'not-testable':
      return skipped(check, probe.why)
    case 'unreachable':
      return failed(
        check,
        `${over}: ${probe.detail}`,
        "check the vendor's base_url, and that this network lets the connection out",
      )
    case 'refused': {
      const found = `${over}: ${probe.status} ${probe.message}`
      if (probe.class === 'rate-limited' || probe.class === 'overloaded')
        return warning(
          check,
          found,
          'the credential is accepted, but rate-limited right now: wait, or raise the limit at the vendor',
        )
      return failed(check, found, REFUSAL_FIXES.get(probe.class) ?? "see the vendor's answer")
    }
  }
}

/** Fixes by the class of the refusal. */
const REFUSAL_FIXES: ReadonlyMap<string, string> = new Map([
  ['auth', 'the vendor rejects it: replace its secret, or allow this model for it'],
  ['quota', 'top it up at the vendor'],
  ['not-found', "check the chain's forward_model_id and the vendor's base_url"],
])
