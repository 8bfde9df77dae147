// The API's own description; the cookie that opened the explorer lets its requests in.

SwaggerUIBundle({ url: "/api/v1/openapi.json", dom_id: "#reference", deepLinking: true });
