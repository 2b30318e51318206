/**
 * Reasoning strength in its three forms: effort words, token budgets and Gemini's levels (docs/protocols.md#effort). The
 * numbers are this gateway's own proposal; the vendors publish none.
 */
import { EFFORTS, type Effort, type ReasoningRequest } from './request.ts'

/** Below this a messages upstream refuses a budget (docs/protocols.md#messages-requests). */
export const BUDGET_MIN_TOKENS = 1024
/** Gemini's own word for "as much as you like" (docs/protocols.md#gemini-requests). */
export const BUDGET_AUTO = -1

const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16384,
  xhigh: 24576,
  max: 32000,
}

/** Gemini 2.5 ends at 24 576 (Flash) or 32 768 (Pro). */
const GEMINI_BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 4096,
  medium: 12288,
  high: 24576,
  xhigh: 24576,
  max: 24576,
}

/** The minimum for a Gemini model that always thinks: 2.5 Pro's (docs/protocols.md#gemini-requests). */
export const GEMINI_BUDGET_MIN_TOKENS = 128

export const GEMINI_LEVELS = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] as const
export type GeminiLevel = (typeof GEMINI_LEVELS)[number]

const LEVELS: Readonly<Record<Effort, GeminiLevel>> = {
  // Gemini 3 cannot stop thinking; its lowest level comes nearest.
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

const LEVEL_EFFORTS: Readonly<Record<GeminiLevel, Effort>> = {
  MINIMAL: 'minimal',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
}

/** Tokens a messages upstream may think for at this effort; 0 for none. */
export function budgetForEffort(effort: Effort): number {
  return BUDGETS[effort]
}

export function geminiBudgetForEffort(effort: Effort): number {
  return GEMINI_BUDGETS[effort]
}

/** The effort a budget stands for; a budget left to the model is medium (docs/protocols.md#effort). */
export function effortForBudget(budgetTokens: number): Effort {
  if (budgetTokens < 0) return 'medium'
  if (budgetTokens === 0) return 'none'
  if (budgetTokens <= 2048) return 'low'
  if (budgetTokens <= 12288) return 'medium'
  if (budgetTokens <= 24576) return 'high'
  return 'xhigh'
}

/** What the client asked for, as an effort; undefined: the client left the choice to the model. */
export function effortOf(reasoning: ReasoningRequest): Effort | undefined {
  if (reasoning.effort !== undefined) return reasoning.effort
  return reasoning.budgetTokens === undefined ? undefined : effortForBudget(reasoning.budgetTokens)
}

/**
 * The nearest supported effort; of two equally near ones the stronger, so that `xhigh` becomes `max`. Thinking is not
 * turned off for a client that asked for some; undefined: the model knows no efforts.
 */
export function nearestEffort(effort: Effort, supported: readonly Effort[]): Effort | undefined {
  if (supported.includes(effort)) return effort
  const thinking = supported.filter((candidate) => candidate !== 'none')
  const candidates = thinking.length === 0 ? supported : thinking
  let nearest: Effort | undefined
  for (const candidate of candidates) {
    if (nearest === undefined || isNearer({ candidate, nearest, effort })) nearest = candidate
  }
  return nearest
}

export function levelForEffort(effort: Effort): GeminiLevel {
  return LEVELS[effort]
}

export function effortForLevel(level: GeminiLevel): Effort {
  return LEVEL_EFFORTS[level]
}

export function isEffort(value: unknown): value is Effort {
  return EFFORTS.some((effort) => effort === value)
}

export function isGeminiLevel(value: unknown): value is GeminiLevel {
  return GEMINI_LEVELS.some((level) => level === value)
}

interface Nearness {
  readonly candidate: Effort
  readonly nearest: Effort
  readonly effort: Effort
}

function isNearer({ candidate, nearest, effort }: Nearness): boolean {
  const wanted = EFFORTS.indexOf(effort)
  const candidateGap = Math.abs(EFFORTS.indexOf(candidate) - wanted)
  const nearestGap = Math.abs(EFFORTS.indexOf(nearest) - wanted)
  if (candidateGap !== nearestGap) return candidateGap < nearestGap
  return EFFORTS.indexOf(candidate) > EFFORTS.indexOf(nearest)
}
