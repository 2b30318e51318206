import { Button, Select } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { pricingQuery } from '../../api/models.ts'
import {
  type OwnCredential,
  ownCredentialsQuery,
  removeOwnCredential,
  switchOwnCredential,
} from '../../api/own-credentials.ts'
import { accountQuery, useOrganisationId } from '../../api/session.ts'
import { changeAccount } from '../../api/wallet.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { Icon } from '../../parts/marks/icon.tsx'
import { Marked } from '../../parts/marks/marked.tsx'
import tags from '../../parts/marks/tag.module.css'
import { inBackground } from '../../parts/page/in-background.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { OwnCredentialDialog } from './own-credential-dialog.tsx'
import { Section } from '../section.tsx'
import styles from '../settings.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** The fallback model, and the account's own vendor keys. */
export function CallSettings() {
  const { t } = useTranslation()
  return (
    <>
      <Section title={t('settings.fallback')} hint={t('settings.fallbackHint')}>
        <Fallback />
      </Section>
      <Section title={t('settings.own')} hint={t('settings.ownHint')}>
        <OwnCredentials />
      </Section>
    </>
  )
}

function Fallback() {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const queryClient = useQueryClient()
  const organisation = useOrganisationId()
  const { data: account } = useQuery(accountQuery(organisation))
  const { data: offers = [] } = useQuery(pricingQuery(organisation))
  const change = useMutation({
    mutationFn: (fallback_model: string | null) => changeAccount({ fallback_model }, organisation),
    onSuccess: (changed) => queryClient.setQueryData(accountQuery(organisation).queryKey, changed),
  })
  const shown = change.isPending ? change.variables : (account?.fallback_model ?? null)
  return (
    <>
      <Select
        aria-label={t('settings.fallback')}
        placeholder={t('settings.noFallback')}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': t('clearFilter', { name: t('settings.fallback') }) }}
        nothingFoundMessage={t('frame.nothingFound')}
        value={shown}
        data={[...new Set(offers.map(({ model_id }) => model_id))].sort()}
        onChange={(model) => change.mutate(model)}
      />
      <FormProblem text={change.error === null ? undefined : problemText(change.error)} />
    </>
  )
}

function OwnCredentials() {
  const { t } = useTranslation()
  const [adding, setAdding] = useState(false)
  const own = useQuery(ownCredentialsQuery(useOrganisationId()))
  return (
    <>
      <Loaded query={own} height={80}>
        {(all) =>
          all.length === 0 ? (
            <p className={styles.none}>{t('settings.noOwn')}</p>
          ) : (
            <ul className={styles.list}>
              {all.map((credential) => (
                <Line key={credential.vendor} of={credential} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <div>
        <Button variant="default" leftSection={<Icon name="plus" />} onClick={() => setAdding(true)}>
          {t('settings.addOwn')}
        </Button>
      </div>
      {adding && <OwnCredentialDialog onClose={() => setAdding(false)} />}
    </>
  )
}

function Line({ of: { vendor, vendor_name: name, enabled } }: { readonly of: OwnCredential }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const organisation = useOrganisationId()
  const reload = (): void =>
    inBackground(queryClient.invalidateQueries({ queryKey: ownCredentialsQuery(organisation).queryKey }))
  const problemText = useProblemText()
  const toggle = useMutation({
    mutationFn: () => switchOwnCredential(vendor, !enabled, organisation),
    onSuccess: reload,
  })
  const shown = name ?? vendor
  return (
    <li>
      <Icon name="key" />
      <span className={styles.words}>
        {shown} {!enabled && <span className={tags.tag}>{t('settings.off')}</span>}
        <FormProblem text={toggle.error === null ? undefined : problemText(toggle.error)} />
      </span>
      <Button
        variant="subtle"
        size="xs"
        aria-label={t(enabled ? 'settings.switchOff' : 'settings.switchOn', { vendor: shown })}
        loading={toggle.isPending}
        onClick={() => toggle.mutate()}
      >
        {t(enabled ? 'settings.disable' : 'settings.enable')}
      </Button>
      <Remove vendor={vendor} shown={shown} onRemoved={reload} />
    </li>
  )
}

interface RemoveProps {
  readonly vendor: string
  /** The display name. */
  readonly shown: string
  readonly onRemoved: () => void
}

function Remove({ vendor, shown, onRemoved }: RemoveProps) {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const [removing, setRemoving] = useState(false)
  return (
    <>
      <Button
        variant="subtle"
        size="xs"
        aria-label={t('settings.removeOwn', { vendor: shown })}
        onClick={() => setRemoving(true)}
      >
        {t('settings.remove')}
      </Button>
      {removing && (
        <Confirm
          title={t('settings.removeOwn', { vendor: shown })}
          action={t('settings.remove')}
          onConfirm={async () => {
            await removeOwnCredential(vendor, organisation)
            onRemoved()
          }}
          onClose={() => setRemoving(false)}
        >
          <Marked text={t('settings.removeOwnText', { vendor: shown })} />
        </Confirm>
      )}
    </>
  )
}
