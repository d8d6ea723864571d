import { expect } from 'vitest'

/** An authorization response as the client it is sent to sees it. */
export interface ClientAnswer {
  mode: 'query' | 'fragment' | 'form_post'
  /** The redirect URI less what the answer added. */
  to: string
  parameters: Record<string, string>
}

/** Where an answer sends the person, and with what: by a redirect, or by the form of a page. */
export async function clientAnswer(answer: Response): Promise<ClientAnswer> {
  const location = answer.headers.get('location')
  if (location === null) return formAnswer(await pageOf(answer, 200))
  expect(answer.status).toBe(303)
  const [, to = '', mark = '', added = ''] = /^([^?#]*)([?#]?)(.*)$/.exec(location) ?? []
  return { mode: mark === '#' ? 'fragment' : 'query', to, parameters: Object.fromEntries(new URLSearchParams(added)) }
}

function formAnswer(html: string): ClientAnswer {
  const action = /<form method="post" action="([^"]*)" id="form-post">/.exec(html)?.[1]
  if (action === undefined) throw new Error(`no form to the client: ${html}`)
  const inputs = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  const parameters = Object.fromEntries([...inputs].map(([, name = '', value = '']) => [unescaped(name), unescaped(value)]))
  return { mode: 'form_post', to: unescaped(action), parameters }
}

/** The text of a page of ours, which must be one, of this status, and send nobody anywhere. */
export async function pageOf(answer: Response, status: number): Promise<string> {
  const html = await answer.text()
  expect({ status: answer.status, type: answer.headers.get('content-type') }, html).toEqual({ status, type: 'text/html; charset=utf-8' })
  expect(answer.headers.get('location')).toBeNull()
  expect(html).toMatch(/^<!doctype html><html lang="en">/)
  return html
}

/** `{error, error_description}` as a program is answered it; the status must be this one. */
export async function errorOf(answer: Response, status: number): Promise<{ error: string; error_description: string }> {
  const text = await answer.text()
  expect({ status: answer.status, type: answer.headers.get('content-type') }, text).toEqual({ status, type: 'application/json' })
  const body = JSON.parse(text)
  expect(Object.keys(body).sort()).toEqual(['error', 'error_description'])
  return body
}

/** Every element of a page as a parser sees it: its tag and its attributes. */
export async function elementsOf(html: string): Promise<{ tag: string; attributes: Record<string, string> }[]> {
  const found: { tag: string; attributes: Record<string, string> }[] = []
  const collect = { element: (element: Element) => void found.push({ tag: element.tagName, attributes: attributesOf(element) }) }
  await new HTMLRewriter().on('*', collect).transform(new Response(html)).text()
  return found
}

/** The values of a page's inputs, by their names. */
export async function inputsOf(html: string): Promise<Record<string, string>> {
  const inputs = (await elementsOf(html)).filter(({ tag }) => tag === 'input')
  return Object.fromEntries(inputs.map(({ attributes }) => [attributes.name ?? '', attributes.value ?? '']))
}

function attributesOf(element: Element): Record<string, string> {
  return Object.fromEntries([...element.attributes].map(([name = '', value = '']) => [name, value]))
}

function unescaped(html: string): string {
  return html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
