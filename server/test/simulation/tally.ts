/** How often what happened, so that a simulation can say that nothing was left out. */
export class Tally {
  readonly counts = new Map<string, number>()

  add(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1)
  }

  /** What of `kinds` never happened. */
  missing(kinds: readonly string[]): readonly string[] {
    return kinds.filter((kind) => !this.counts.has(kind))
  }
}

/** What has to happen in any simulation of some thousand operations. */
export const EVERYDAY_KINDS: readonly string[] = [
  'reserve: reserved',
  ...[40102, 40202, 40203, 42901, 42902, 42903].map((code) => `reserve: refused ${code}`),
  'reserve again: reserved',
  'reserve again: impossible',
  'claim: claimed',
  'claim: full',
  'unclaim: done',
  'progress: done',
  'progress of a client that left: done',
  'settle: first',
  'settle: not first',
  'settle: covered by the subscription',
  'settle: by an own credential',
  'abandon: done',
  'abandon: sent',
  'abandon: not sent',
  'log: done',
  'video ended by settle',
  'video ended by abandon',
  'response ended by settle',
  'response ended by abandon',
  'a task was leased',
  'end of a lost reservation: done',
  'recovery: settle',
  'recovery: abandon',
  'an instance crashed',
  'an instance paused',
  'an instance came back late',
  'a client left',
  'outage before a commit',
  'outage after a commit',
  'an outage ended',
  'settle: late, more',
  'settle: late, as much',
  'a quota has carried over what was used beyond it',
  'batch again',
  'batch of more than 50',
  'exchange by hand: done',
  'exchange before a hold',
  'exchange after a charge',
  'plan bought or renewed: done',
  'clock stepped back',
  'clock stepped over a month',
  'key changed',
  'price changed',
  'account changed',
  'member changed',
  'own credentials changed',
]

/** What is rarer. */
export const ALL_KINDS: readonly string[] = [
  ...EVERYDAY_KINDS,
  ...[40101, 40103, 40303, 42905, 42906, 42910].map((code) => `reserve: refused ${code}`),
  'reserve again: refused 40202',
  'exchange by hand: refused',
  'plan bought or renewed: refused',
  'settle: owed',
  'a recovered call was forgotten',
  'an instance came back after what was owed was paid',
  'settle: late, less',
  'settle: late, less of what was owed',
  'abandon: late, as much',
  'abandon: late, less',
  'abandon: late, less of what was owed',
  'late: less of what was carried over',
  'reserve: Credits are held by running calls',
  'owed: charged by another cap',
  'owed: charged by housekeeping',
  'owed: charged before a hold',
  'owed: charged after a call',
  ...[40102, 40303, 42906].map((code) => `reserve: refused ${code} for the member`),
  'member removed',
  'an idle call was taken for lost',
  'an opening closed and opened',
  'act again',
]
