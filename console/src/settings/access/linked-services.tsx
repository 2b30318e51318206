import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { linkedQuery, linkService, servicesQuery, unlinkService } from '../../api/access.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import { inBackground } from '../../parts/page/in-background.ts'
import { FormProblem, Note } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { useFormat } from '../../parts/values/format.ts'
import { Section } from '../section.tsx'
import styles from '../settings.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

const route = getRouteApi('/frame/settings')

/** Linked services for signing in; renders nothing if the operator has none. */
export function LinkedServices() {
  const { t } = useTranslation()
  const format = useFormat()
  const problemText = useProblemText()
  const { error: failed } = route.useSearch()
  const { data: services = [] } = useQuery(servicesQuery)
  const { data: linked = [] } = useQuery(linkedQuery)
  const link = useMutation({
    mutationFn: (name: string) => linkService(name, window.location.pathname + window.location.search),
    onSuccess: (address) => window.location.assign(address),
  })
  if (services.length === 0 && linked.length === 0) return null
  const others = services.filter(({ name }) => !linked.some(({ service }) => service === name))
  return (
    <Section title={t('settings.services')} hint={t('settings.servicesHint')}>
      {failed !== undefined && (
        <Note>{t(failed === 'taken' ? 'settings.linkTaken' : 'settings.linkFailed')}</Note>
      )}
      <ul className={styles.list}>
        {linked.map(({ service, label: person, linked_at: at }) => {
          // A service that is no longer offered is shown only by name.
          const label = services.find(({ name }) => name === service)?.label ?? service
          return (
            <li key={service}>
              <Icon name="check" />
              <span className={styles.words}>
                {label}
                <small>{[person, t('settings.added', { day: format.date(at) })].join(' · ')}</small>
              </span>
              <Unlink service={service} label={label} />
            </li>
          )
        })}
        {others.map(({ name, label }) => (
          <li key={name}>
            <Icon name="elsewhere" />
            <span className={styles.words}>{label}</span>
            <Button variant="default" size="xs" loading={link.isPending} onClick={() => link.mutate(name)}>
              {t('settings.link', { service: label })}
            </Button>
          </li>
        ))}
      </ul>
      <FormProblem text={link.error === null ? undefined : problemText(link.error)} />
    </Section>
  )
}

function Unlink({ service, label }: { readonly service: string; readonly label: string }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="subtle" size="xs" onClick={() => setAsking(true)}>
        {t('settings.unlink', { service: label })}
      </Button>
      {asking && (
        <Confirm
          title={t('settings.unlink', { service: label })}
          action={t('settings.remove')}
          onConfirm={async () => {
            await unlinkService(service)
            inBackground(queryClient.invalidateQueries({ queryKey: linkedQuery.queryKey }))
          }}
          onClose={() => setAsking(false)}
        >
          <Marked text={t('settings.unlinkText', { service: label })} />
        </Confirm>
      )}
    </>
  )
}
