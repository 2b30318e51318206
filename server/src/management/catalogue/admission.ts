/** What each model accepts, what it requires of an account, and whether it is available now. */
import type { Catalogue, Chain } from '../../core/catalogue.ts'
import { usableChains } from '../../core/routing/order.ts'

const VERIFICATIONS = ['none', 'personal', 'enterprise'] as const
type Verification = (typeof VERIFICATIONS)[number]

export interface AdmissionEntry {
  readonly model_id: string
  readonly context_tokens: number | null
  readonly max_output_tokens: number | null
  readonly subscription_covered: boolean
  readonly needs: { readonly verification: Verification; readonly plan_level: number }
  /** What the account lacks. */
  readonly missing: readonly ('verification' | 'plan')[]
  /** `unsteady`: some of its chains answer, others are in a cooldown or fail. */
  readonly health: 'up' | 'unsteady' | 'down'
}

export interface AdmittedAccount {
  /** 0 none, 1 personal, 2 enterprise. */
  readonly verification: number
  /** Level of the running plan; 0: none. */
  readonly planLevel: number
}

/** Every enabled, visible model that has a chain. */
export function listAdmission(
  catalogue: Catalogue,
  { verification, planLevel }: AdmittedAccount,
  answers: (chain: Chain) => boolean,
): readonly AdmissionEntry[] {
  return [...catalogue.models.values()].flatMap((model) => {
    const chains = model.status === 'enabled' && model.clientVisible ? usableChains(model, catalogue) : []
    if (chains.length === 0) return []
    const up = chains.filter(answers).length
    const needed = Math.min(Math.max(model.requiredVerification, 0), VERIFICATIONS.length - 1)
    return [
      {
        model_id: model.modelId,
        context_tokens: model.contextTokens ?? null,
        max_output_tokens: model.maxOutputTokens ?? null,
        subscription_covered: model.subscriptionCovered,
        needs: {
          verification: VERIFICATIONS[needed] ?? 'none',
          plan_level: Math.max(model.requiredPlan, 0),
        },
        missing: [
          ...(verification < model.requiredVerification ? (['verification'] as const) : []),
          ...(planLevel < model.requiredPlan ? (['plan'] as const) : []),
        ],
        health: up === chains.length ? 'up' : up > 0 ? 'unsteady' : 'down',
      },
    ]
  })
}
