import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useIsOwner, useOrganisationId } from '../../api/session.ts'
import {
  readDocument,
  type VerificationRequest,
  verificationQuery,
  withdrawVerification,
} from '../../api/verification.ts'
import { Confirm } from '../../parts/forms/confirm.tsx'
import { save } from '../../parts/lists/download.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import tags from '../../parts/marks/tag.module.css'
import { inBackground } from '../../parts/page/in-background.ts'
import { Loaded } from '../../parts/page/loaded.tsx'
import { FormProblem } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import { useFormat } from '../../parts/values/format.ts'
import { Section } from '../section.tsx'
import styles from '../settings.module.css'
import { VerificationForm } from './verification-form.tsx'
import { useTranslation } from '../../texts/use-translation.ts'

/** The account's level of verification, its requests, and the form of a new one. */
export function Verification() {
  const { t } = useTranslation()
  const isOwner = useIsOwner()
  const verification = useQuery(verificationQuery(useOrganisationId()))
  return (
    <Loaded query={verification} height={320}>
      {({ verification: state, requests }) => (
        <>
          <Section title={t('settings.verified')} hint={t('settings.verifiedHint')}>
            <p className={styles.state} data-tone={state === 'none' ? undefined : 'good'}>
              <Icon name={state === 'none' ? 'info' : 'done'} />
              {t(`settings.levels.${state}`)}
            </p>
          </Section>
          {requests.length > 0 && (
            <Section title={t('settings.requests')}>
              <ul className={styles.list}>
                {requests.map((request) => (
                  <Line key={request.id} of={request} />
                ))}
              </ul>
            </Section>
          )}
          {isOwner && state !== 'enterprise' && !requests.some(({ status }) => status === 'pending') && (
            <Section title={t('settings.verify')} hint={t('settings.verifyHint')}>
              <VerificationForm verified={state} />
            </Section>
          )}
        </>
      )}
    </Loaded>
  )
}

function Line({ of: request }: { readonly of: VerificationRequest }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <li>
      <span className={styles.words}>
        {t(`settings.kinds.${request.kind}`)}{' '}
        <span className={tags.tag}>{t(`settings.requestStates.${request.status}`)}</span>
        <small>{format.moment(request.submitted_at)}</small>
        {request.reason !== null && <small>{request.reason}</small>}
        {request.status !== 'withdrawn' && <Documents of={request} />}
      </span>
      {request.status === 'pending' && <Withdraw id={request.id} />}
    </li>
  )
}

function Documents({ of: { id, documents } }: { readonly of: VerificationRequest }) {
  const format = useFormat()
  const problemText = useProblemText()
  const organisation = useOrganisationId()
  const isOwner = useIsOwner()
  const open = useMutation({
    mutationFn: async ({ number, name }: { readonly number: number; readonly name: string }) =>
      save(await readDocument(id, number, organisation), name),
  })
  return (
    <>
      {documents.map(({ name, bytes }, index) => (
        <button
          key={index}
          type="button"
          className={styles.document}
          disabled={!isOwner}
          onClick={() => open.mutate({ number: index + 1, name })}
        >
          <Icon name="attach" size={14} />
          {name} <span>{format.bytes(bytes)}</span>
        </button>
      ))}
      <FormProblem text={open.error === null ? undefined : problemText(open.error)} />
    </>
  )
}

function Withdraw({ id }: { readonly id: string }) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const organisation = useOrganisationId()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" size="xs" onClick={() => setAsking(true)}>
        {t('settings.withdraw')}
      </Button>
      {asking && (
        <Confirm
          title={t('settings.withdrawTitle')}
          action={t('settings.withdraw')}
          onConfirm={async () => {
            await withdrawVerification(id, organisation)
            inBackground(
              queryClient.invalidateQueries({ queryKey: verificationQuery(organisation).queryKey }),
            )
          }}
          onClose={() => setAsking(false)}
        >
          {t('settings.withdrawText')}
        </Confirm>
      )}
    </>
  )
}
