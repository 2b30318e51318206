import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { acceptInvitation, createOrganisation, previewInvitation } from '../api/organisations.ts'
import { organisationsQuery } from '../api/session.ts'
import forms from '../parts/forms/form.module.css'
import { FormFrame } from '../parts/forms/form-frame.tsx'
import { useSubmit } from '../parts/forms/use-submit.ts'
import { Icon } from '../parts/marks/icon.tsx'
import tags from '../parts/marks/tag.module.css'
import { inBackground } from '../parts/page/in-background.ts'
import page from '../parts/page/page.module.css'
import { FormProblem, Note } from '../parts/page/problem.tsx'
import { useProblemText } from '../parts/page/use-problem.ts'
import { useFormat } from '../parts/values/format.ts'
import styles from './organisation.module.css'
import { useTranslation } from '../texts/use-translation.ts'

/** The person's organisations, creating one, and accepting an invitation. */
export function OwnOrganisations() {
  const { t } = useTranslation()
  const { data: organisations = [] } = useQuery(organisationsQuery)
  return (
    <>
      {organisations.length > 0 && (
        <ul className={styles.list}>
          {organisations.map(({ id, name, member }) => (
            <li key={id}>
              <Icon name="organisation" />
              <span className={styles.words}>
                {name} <span className={tags.tag}>{t(`organisation.roles.${member.role}`)}</span>
              </span>
              <Link
                to="/organisation"
                search={{ org: id }}
                className={page.link}
                aria-label={t('organisation.open', { name })}
              >
                {t('organisation.openShort')}
              </Link>
            </li>
          ))}
        </ul>
      )}
      <div className={styles.two}>
        <Create />
        <Accept />
      </div>
    </>
  )
}

/** Opens the organisation once the list of organisations contains it. */
function useEnter(): (org: string) => Promise<void> {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  return async (org) => {
    await queryClient.invalidateQueries({ queryKey: organisationsQuery.queryKey })
    await navigate({ to: '/organisation', search: { org } })
  }
}

function Create() {
  const { t } = useTranslation()
  const enter = useEnter()
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (text) => (text.trim() === '' ? t('organisation.nameWanted') : null) },
  })
  const { submit, isPending, problem } = useSubmit(form, {
    send: ({ name }) => createOrganisation(name.trim()),
    onDone: ({ id }) => inBackground(enter(id)),
  })
  return (
    <section>
      <h2 className={styles.title}>{t('organisation.create')}</h2>
      <FormFrame sending={{ submit, isPending, problem }} action={t('organisation.create')}>
        <p className={forms.words}>{t('organisation.createHint')}</p>
        <TextInput label={t('organisation.name')} {...form.getInputProps('name')} />
      </FormFrame>
    </section>
  )
}

/** The token of the link; removed from the address bar and the history once it is read. */
function useToken(): string {
  const [token] = useState(() => new URLSearchParams(window.location.hash.slice(1)).get('invitation') ?? '')
  useEffect(() => {
    if (token !== '')
      window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search)
  }, [token])
  return token
}

function Accept() {
  const { t } = useTranslation()
  const enter = useEnter()
  const token = useToken()
  const form = useForm({
    initialValues: { token },
    validate: { token: (text) => (text.trim() === '' ? t('organisation.tokenWanted') : null) },
  })
  const { submit, isPending, problem } = useSubmit(form, {
    send: ({ token: text }) => acceptInvitation(text.trim()),
    onDone: ({ id }) => inBackground(enter(id)),
  })
  return (
    <section>
      <h2 className={styles.title}>{t('organisation.accept')}</h2>
      <FormFrame sending={{ submit, isPending, problem }} action={t('organisation.join')}>
        <p className={forms.words}>{t('organisation.acceptHint')}</p>
        <TextInput
          label={t('organisation.token')}
          autoComplete="off"
          spellCheck={false}
          {...form.getInputProps('token')}
        />
        {token !== '' && <Preview token={token} />}
      </FormFrame>
    </section>
  )
}

/** What the invitation offers. */
function Preview({ token }: { readonly token: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const problemText = useProblemText()
  const preview = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => previewInvitation(token),
    retry: false,
  })
  if (preview.error !== null) return <FormProblem text={problemText(preview.error)} />
  if (preview.data === undefined) return null
  const { organisation, role, email, expires_at: end } = preview.data
  return (
    <Note tone="info">
      {t('organisation.preview', {
        organisation,
        role: t(`organisation.roles.${role}`),
        email,
        day: format.date(end),
      })}
    </Note>
  )
}
