import { DIALECTS, type Migration } from './dialect.ts'

/**
 * An epoch that is raised by the instance that takes over, and a count that changes with every beat, independent of the
 * clock.
 */
export const instanceEpochs: Migration = {
  version: 16,
  name: 'epochs of instances',
  statements: (engine) => {
    const { integer } = DIALECTS[engine]
    return [
      `alter table instances add column epoch ${integer} not null default 1`,
      `alter table instances add column beats ${integer} not null default 0`,
    ]
  },
}
