import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  type Invitation,
  invitationsQuery,
  resendInvitation,
  revokeInvitation,
} from '../api/organisations.ts'
import { Icon } from '../parts/marks/icon.tsx'
import { inBackground } from '../parts/page/in-background.ts'
import { Loaded } from '../parts/page/loaded.tsx'
import { FormProblem } from '../parts/page/problem.tsx'
import { useProblemText } from '../parts/page/use-problem.ts'
import { useFormat } from '../parts/values/format.ts'
import styles from './organisation.module.css'
import { useTranslation } from '../texts/use-translation.ts'

/** Pending invitations. */
export function Invitations({ organisation }: { readonly organisation: string }) {
  const { t } = useTranslation()
  const invitations = useQuery(invitationsQuery(organisation))
  return (
    <Loaded query={invitations} height={0}>
      {(all) =>
        all.length > 0 && (
          <section className={styles.part}>
            <h2 className={styles.title}>{t('organisation.invitations')}</h2>
            <ul className={styles.list}>
              {all.map((invitation) => (
                <Line key={invitation.id} of={invitation} organisation={organisation} />
              ))}
            </ul>
          </section>
        )
      }
    </Loaded>
  )
}

interface LineProps {
  readonly of: Invitation
  readonly organisation: string
}

function Line({ of: { id, email, role, status, expires_at: end }, organisation }: LineProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const problemText = useProblemText()
  const queryClient = useQueryClient()
  const act = useMutation({
    mutationFn: async (what: 'resend' | 'revoke') => {
      await (what === 'resend' ? resendInvitation(organisation, id) : revokeInvitation(organisation, id))
    },
    onSuccess: () =>
      inBackground(queryClient.invalidateQueries({ queryKey: invitationsQuery(organisation).queryKey })),
  })
  return (
    <li>
      <Icon name="mail" />
      <span className={styles.words}>
        {email}
        <small>
          {t(`organisation.roles.${role}`)} ·{' '}
          {t(status === 'expired' ? 'organisation.expired' : 'organisation.goodUntil', {
            day: format.date(end),
          })}
        </small>
        <FormProblem text={act.error === null ? undefined : problemText(act.error)} />
      </span>
      <Button
        variant="subtle"
        size="xs"
        aria-label={t('organisation.resendTo', { email })}
        onClick={() => act.mutate('resend')}
      >
        {t('organisation.resend')}
      </Button>
      <Button
        variant="subtle"
        size="xs"
        aria-label={t('organisation.revokeOf', { email })}
        onClick={() => act.mutate('revoke')}
      >
        {t('organisation.revoke')}
      </Button>
    </li>
  )
}
