import { Fragment, type ReactNode } from 'react'
import styles from './facts.module.css'

/** `code`: text of machines. */
export type Fact = readonly [name: string, value: ReactNode, kind?: 'code']

/** Names and what they stand for, one under the other. */
export function Facts({ rows }: { readonly rows: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {rows.map(([name, value, kind]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{kind === 'code' ? <code>{value}</code> : value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
