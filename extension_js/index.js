// The extension's entry: SillyTavern loads it as an ES module and calls the interceptor by its global name.

import { createApp } from './src/app.js';
import { createHost } from './src/host.js';

const app = createApp(createHost(() => globalThis.SillyTavern.getContext()));

Object.assign(globalThis, { soulmemInterceptor: app.recaller.intercept, soulmem: app.handle });
app.host.on('APP_READY', () => void app.start());
