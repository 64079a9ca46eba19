// A registry on the loopback that serves packed packages, and nothing else.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

/** Serves `[{ manifest, tarball? }]`; a package without a tarball is known, but cannot be had. */
export async function serve(packages) {
	const asked = [];
	const known = new Map(packages.map((one) => [one.manifest.name, one]));
	const server = createServer((request, response) => {
		const path = decodeURIComponent(request.url.slice(1));
		asked.push(path);
		const found = known.get(path.replace(/\/-\/.*/, ""));
		const missing = !found || (path.includes("/-/") && !found.tarball);
		if (missing) return response.writeHead(404, { "content-type": "application/json" }).end("{}");
		if (path.includes("/-/")) return response.end(readFileSync(found.tarball));
		response.setHeader("content-type", "application/json");
		response.end(JSON.stringify(document(found, url)));
	});
	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	const url = `http://127.0.0.1:${server.address().port}`;
	return { url, asked, close: () => server.close() };
}

/** What npm is told of a package with one version. */
function document({ manifest, tarball }, url) {
	const { name, version } = manifest;
	const bytes = tarball ? readFileSync(tarball) : Buffer.alloc(0);
	const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
	const dist = { tarball: `${url}/${name}/-/${name}-${version}.tgz`, integrity };
	return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}
