import { Tabs } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Code } from './code.tsx'
import { CopyButton } from './copy-button.tsx'
import styles from './first-call.module.css'
import { CLIENTS, type ClientId, type SnippetFacts } from './snippets.ts'

interface FirstCallProps extends SnippetFacts {
  readonly first: ClientId
  /** What stands beside the copy button. */
  readonly hint?: string
}

/** A call that works when pasted, for every client people use. */
export function FirstCall({ first, hint, ...facts }: FirstCallProps) {
  const { t } = useTranslation()
  const [chosen, choose] = useState<string | null>(first)
  const { write, label } = CLIENTS.find(({ id }) => id === chosen) ?? CLIENTS[0]
  const text = write(facts)
  return (
    <div>
      <Tabs value={chosen} onChange={choose} keepMounted={false}>
        <Tabs.List aria-label={t('firstCall.clients')} className={styles.list}>
          {CLIENTS.map(({ id, label: name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {CLIENTS.map(({ id }) => (
          <Tabs.Panel key={id} value={id} className={styles.panel}>
            <Code text={text} label={label} />
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
