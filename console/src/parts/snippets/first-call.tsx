import { Tabs } from '@mantine/core'
import { useState } from 'react'
import { Code } from './code.tsx'
import { CopyButton } from './copy-button.tsx'
import styles from './first-call.module.css'
import { type ClientId, clientsFor, type SnippetFacts } from './snippets.ts'
import { useTranslation } from '../../texts/use-translation.ts'

interface FirstCallProps extends SnippetFacts {
  readonly first: ClientId
  /** The protocol that the key's group allows. */
  readonly protocol?: string | undefined
  /** The model's endpoints; absent: a chat model is assumed. */
  readonly endpoints?: readonly string[] | undefined
  /** Shown beside the copy button. */
  readonly hint?: string
}

/** Snippets of a first call for every common client. */
export function FirstCall({ first, endpoints, protocol, hint, ...facts }: FirstCallProps) {
  const { t } = useTranslation()
  const [wanted, want] = useState<string | null>(first)
  const clients = clientsFor(endpoints, protocol)
  const chosen = clients.find(({ id }) => id === wanted) ?? clients[0]
  if (chosen === undefined) return null
  const text = chosen.write(facts)
  return (
    <div>
      <Tabs value={chosen.id} onChange={want} keepMounted={false}>
        <Tabs.List aria-label={t('firstCall.clients')} className={styles.list}>
          {clients.map(({ id, label }) => (
            <Tabs.Tab key={id} value={id}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {clients.map(({ id }) => (
          <Tabs.Panel key={id} value={id} className={styles.panel}>
            <Code text={text} label={chosen.label} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <div className={styles.foot}>
        <span>{hint}</span>
        <CopyButton value={text} label={t('copy')} />
      </div>
    </div>
  )
}
